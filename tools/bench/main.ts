import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { endWithAdvice, parseOptions } from '../parse-options.ts';
import { endpoints } from './calls.ts';
import { packageCandidates } from './candidates.ts';
import { checkResponses } from './check-responses.ts';
import { checkInstructions } from './guard.ts';
import { formatReport } from './report.ts';
import { measureInRounds } from './rounds.ts';
import { startStub } from './stub-dynamodb.ts';

const names = endpoints.map(({ name }) => name);

const usage = `Usage: npm run bench -- [guard] [options]

Compares cold starts and warm calls with a Lambda API without a framework, in some minutes. guard counts instructions with
valgrind instead, and fails above the limits in tools/bench/guard.ts.

  --full            take the time for figures to publish
  --only NAME,...   measure these: ${names.join(', ')}
  --against FOLDER  compare with another checkout, with its packages installed, instead
  --help            show this text

Needs Linux with two cores and taskset, and g++ and cmake for AWS's runtime client. Exit code 77 where something is missing.`;

const text = { type: 'string' } as const;
const options = { full: { type: 'boolean' }, only: text, against: text } as const;
const { values, positionals } = parseOptions(usage, options, true);
const only = values.only?.split(',');
const against = values.against && resolve(process.env.INIT_CWD ?? '.', values.against);
const isGuard = positionals.length > 0;

const unknown = only?.find((name) => !names.includes(name));
if (unknown !== undefined) endWithAdvice(`There is no part ${unknown} to measure`);
if (isGuard && positionals.join() !== 'guard') endWithAdvice(`There is no command ${positionals.join(' ')}`);
if (against && !existsSync(join(against, 'node_modules'))) {
  endWithAdvice(`${against} is not a checkout with its packages installed`);
}
// The bench and its stub have core 0, and the function under measurement core 1.
const cores = availableParallelism();
const { status } = spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', '0', String(process.pid)]);
if (cores < 2 || status !== 0) endUnmeasured('Linux with two cores and taskset');
if (isGuard && spawnSync('valgrind', ['--version']).error) endUnmeasured('valgrind');
execFileSync(resolve(import.meta.dirname, '../runtime/install'), { stdio: 'inherit' });

const folder = await mkdtemp(join(tmpdir(), 'book-catalog-bench-'));
const stub = await startStub();
try {
  const candidates = await packageCandidates(folder, stub.url, against || undefined);
  if (!isGuard) await measure(candidates);
  else if (!(await checkInstructions(candidates))) process.exitCode = 1;
} finally {
  await stub.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measure({ peers, prepare }: Awaited<ReturnType<typeof packageCandidates>>): Promise<void> {
  const effort = values.full
    ? { rounds: 20, warmUpCalls: 700, calls: 300 }
    : { rounds: 4, warmUpCalls: 200, calls: 100 };
  for (const endpoint of endpoints) {
    if (only ? !only.includes(endpoint.name) : !(endpoint.hasPeers || against)) continue;
    const candidates = await Promise.all(['ours', ...peers].map((name) => prepare(name, endpoint)));
    await checkResponses(endpoint, candidates);
    const samples = await measureInRounds(endpoint, candidates, effort);
    console.log(formatReport(endpoint.name, candidates, against ? 'before' : 'bare', samples));
  }
}

function endUnmeasured(missing: string): never {
  console.log(`Nothing was measured: that takes ${missing}.`);
  process.exit(77);
}
