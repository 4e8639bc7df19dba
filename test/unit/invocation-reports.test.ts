import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { functions } from '../../serverless/functions.ts';
import { measuredMs } from '../../tools/operations/invocation-reports.ts';

/** The endpoints and milliseconds in the table of costs; a row may have several methods, and a query or further words. */
const rows = [...readFileSync('docs/operations.md', 'utf8').matchAll(/^\| ([A-Z, ]+) (\/[\w/{}]+)[^|]* \| (\d+) \|/gm)];

test.each(functions)(
  'the smoke test compares $name with the milliseconds of its endpoint in the table of costs',
  ({ name, event }) => {
    const row = rows.find(
      ([, methods = '', path]) => methods.split(', ').includes(event.method) && path === event.path,
    );

    expect({ [name]: Number(row?.[3]) }).toEqual({ [name]: measuredMs[name as keyof typeof measuredMs] });
  },
);
