import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { functions } from '../../serverless/functions.ts';
import { measuredMs } from '../../tools/operations/invocation-reports.ts';

/** The endpoints and milliseconds in the table of costs; a row may have several methods, and a query or further words. */
const rows = [...readFileSync('docs/operations.md', 'utf8').matchAll(/^\| ([A-Z, ]+) (\/[\w/{}]+)[^|]* \| (\d+) \|/gm)];

test.each(Object.entries(measuredMs))(
  'the smoke test compares %s with the milliseconds of its endpoint in the table of costs',
  (name, ms) => {
    const { method = '', path } = functions.find((each) => each.name === name)?.event ?? {};
    const row = rows.find(([, methods = '', place]) => methods.split(', ').includes(method) && place === path);

    expect(row?.[3], `the milliseconds of ${method} ${path} in docs/operations.md`).toBe(String(ms));
  },
);
