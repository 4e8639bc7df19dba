import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { endWithAdvice, readCommandLine } from '../../serverless/command-line.ts';
import { endpoints } from './calls.ts';

const parts = [...endpoints.map(({ name }) => name), 'lists'];

const usage = `Usage: npm run bench -- [guard] [options]

Compares cold starts, warm calls and lists with other ways to write a Lambda API, in some minutes. guard counts instructions
with valgrind instead, and fails above the limits in tools/bench/guard.ts.

  --full            take the time for figures to publish, and write them to docs/benchmarks/
  --only PART,...   measure parts: ${parts.join(', ')}
  --against FOLDER  compare with another checkout, with its packages installed, instead of other frameworks
  --help            show this text

Needs Linux with two cores and taskset, and g++ and cmake for AWS's runtime client. Exit code 77 where something is missing.`;

/** Reads the options of `npm run bench`, and ends the process when they are wrong. */
export function readBenchOptions() {
  const { values, positionals } = readCommandLine(
    usage,
    {
      full: { type: 'boolean', default: false },
      only: { type: 'string' },
      against: { type: 'string' },
    },
    true,
  );
  const only = values.only?.split(',');
  const against = values.against && resolve(process.env.INIT_CWD ?? '.', values.against);
  const unknown = only?.find((part) => !parts.includes(part));
  if (unknown !== undefined) endWithAdvice(`There is no part ${unknown} to measure`);
  if (positionals.some((name) => name !== 'guard'))
    endWithAdvice(`There is no command ${positionals.join(' ')}`);
  if (against && !existsSync(join(against, 'node_modules'))) {
    endWithAdvice(`${against} is not a checkout with its packages installed`);
  }
  return { isGuard: positionals.length > 0, full: values.full, only, against };
}
