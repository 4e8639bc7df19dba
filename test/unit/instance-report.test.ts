import { expect, test } from 'vitest';
import { formatInstanceReport } from '../../tools/smoke/instance-report.ts';

const report = (metrics: object) => JSON.stringify({ type: 'platform.report', record: { metrics } });
const start = JSON.stringify({ type: 'platform.initStart', record: { runtimeVersion: 'nodejs:24.v15' } });

test('the report has the cold starts of each function, its memory, its runtime, and whether its code cache was refused', () => {
  const memory = { memorySizeMB: 1769, maxMemoryUsedMB: 84 };
  const refusal = 'The code cache is not for Node v24.21.0.';

  const text = formatInstanceReport([
    {
      name: 'getBook',
      lines: [
        'START RequestId: 0a1b Version: $LATEST',
        start,
        report({ ...memory, initDurationMs: 180.5 }),
        report({ ...memory, maxMemoryUsedMB: 92, initDurationMs: 141.25 }),
        report({ ...memory, initDurationMs: 150 }),
      ],
    },
    { name: 'listBooks', lines: [start, JSON.stringify({ level: 'INFO', message: refusal })] },
  ]);

  expect(text.split('\n')).toEqual(
    expect.arrayContaining([
      '| getBook | 180.5, 141.25, 150 | 84 of 1769, 92 of 1769 | nodejs:24.v15 |  |',
      `| listBooks |  |  | nodejs:24.v15 | ${refusal} |`,
    ]),
  );
});
