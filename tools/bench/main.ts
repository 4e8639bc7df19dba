import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { endWithAdvice, parseOptions } from '../parse-options.ts';
import { calls } from './calls.ts';
import { packageCandidates } from './candidates.ts';
import { checkInstructions } from './guard.ts';
import { measure } from './measure.ts';
import { startStub } from './stub-dynamodb.ts';

const usage = `Usage: npm run bench -- [guard] [options]

Compares the cold start and the warm call of endpoints with a Lambda API without a framework, in a quarter of an hour.
guard counts instructions with valgrind instead, and fails above the limits in tools/bench/guard.ts.

  --against FOLDER  compare with another checkout, with its packages installed, instead
  --help            show this text

Needs Linux with two cores and taskset, and g++ and cmake for AWS's runtime client. Exit code 77 where something is missing.`;

const { values, positionals } = parseOptions(usage, { against: { type: 'string' } } as const, true);
const command = positionals.join(' ');
if (!['', 'guard'].includes(command)) endWithAdvice(`There is no command ${command}`);
const against = values.against && resolve(process.env.INIT_CWD ?? '.', values.against);
if (against && !existsSync(join(against, 'node_modules'))) {
  endWithAdvice(`${against} is not a checkout with its packages installed`);
}
// The bench and its stub have core 0, and the function under measurement core 1.
const cores = availableParallelism();
const { status } = spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', '0', String(process.pid)]);
if (cores < 2 || status !== 0) endUnmeasured('Linux with two cores and taskset');
if (command === 'guard' && spawnSync('valgrind', ['--version']).error) endUnmeasured('valgrind');
execFileSync(resolve(import.meta.dirname, '../../test/aws/runtime/install'), { stdio: 'inherit' });

const folder = await mkdtemp(join(tmpdir(), 'book-catalog-bench-'));
const stub = await startStub();
try {
  const candidates = await packageCandidates(folder, stub.url, against || undefined);
  if (command === 'guard') process.exitCode = (await checkInstructions(candidates)) ? 0 : 1;
  else for (const call of calls) await measure(call, candidates);
} finally {
  await stub.stop();
  await rm(folder, { recursive: true, force: true });
}

function endUnmeasured(tools: string): never {
  console.log(`Nothing was measured: that takes ${tools}.`);
  process.exit(77);
}
