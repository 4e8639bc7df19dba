import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageFunctions } from '../../test/aws/runtime/package-functions.ts';
import { type Candidate, prepareCandidates } from './candidates.ts';
import { checkAnswers } from './check-answers.ts';
import { measureColdStarts } from './cold-starts.ts';
import { type CodingResult, sweepContentCodings } from './content-codings.ts';
import { type EndpointCall, endpoints } from './endpoints.ts';
import { countInstructions, type InstructionCount } from './instructions.ts';
import { startDynalite, startStub } from './list-database.ts';
import { type ListResult, listSettings, measureLists } from './lists.ts';
import { type SweepResult, sweepMemory } from './memory-sweep.ts';
import { writeReport } from './report.ts';
import { type EndpointResult, summarizeEndpoint } from './results.ts';
import { startServer } from './server-process.ts';
import { measureWarmCalls } from './warm-calls.ts';

const { values: options } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    only: { type: 'string' },
    dynalite: { type: 'boolean', default: false },
  },
});

/** How much is measured: in about 5 minutes, or for figures that are to be published. */
const effort = options.full
  ? {
      coldRounds: 20,
      warmRounds: 8,
      warmUpCalls: 700,
      calls: 300,
      bookCounts: [1e3, 1e4, 1e5, 1e6],
      sweep: 5,
    }
  : { coldRounds: 4, warmRounds: 3, warmUpCalls: 200, calls: 100, bookCounts: [1e3, 1e4, 1e5], sweep: 0 };

/** Lists of a size; a million are asked for once. */
const listsOf = (bookCount: number): number => (bookCount > 1e5 ? 1 : 5);

const folder = await mkdtemp(join(tmpdir(), 'book-catalog-bench-'));
try {
  await packageFunctions(folder);
  const measured: EndpointResult[] = [];
  const sweep: SweepResult[] = [];
  const lists: ListResult[] = [];
  const instructions: InstructionCount[] = [];
  const stub = await startServer(join(import.meta.dirname, 'stub-dynamodb.ts'));
  const parts = options.only?.split(',');
  for (const endpoint of endpoints) {
    if (parts && !parts.includes(endpoint.name)) continue;
    const candidates = await prepareCandidates(endpoint, folder, join(folder, 'peers'));
    measured.push(await measureEndpoint(endpoint, candidates, `${stub.endpoint}/books`));
    const [ours] = candidates;
    if (ours && effort.sweep > 0) {
      sweep.push(...(await sweepMemory(endpoint, ours, `${stub.endpoint}/books`, effort.sweep)));
    }
    console.error(`${endpoint.route} measured`);
  }
  // A quarter of an hour for one endpoint, so only when it is asked for.
  const counted = endpoints.find(({ name }) => name === 'get-book');
  if (parts?.includes('instructions') && counted) {
    const candidates = await prepareCandidates(counted, folder, join(folder, 'peers'));
    instructions.push(...(await countInstructions(counted, candidates, `${stub.endpoint}/books`, folder)));
  }
  await stub.stop();
  if (!parts || parts.includes('lists')) {
    const [endpoint] = endpoints.filter(({ name }) => name === 'list-books');
    if (endpoint) lists.push(...(await measureAllLists(endpoint)));
  }
  const codings: CodingResult[] =
    parts?.includes('codings') || (options.full && !parts) ? await sweepContentCodings() : [];
  // Only a full run replaces what is published.
  const report = join(import.meta.dirname, options.full && !parts ? '../../docs/benchmarks' : 'results');
  await mkdir(report, { recursive: true });
  await writeFile(
    join(report, 'results.json'),
    JSON.stringify({ measured, sweep, lists, codings, instructions }, null, 1),
  );
  await writeReport(report, { measured, sweep, lists, codings, instructions });
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measureEndpoint(
  endpoint: EndpointCall,
  candidates: readonly Candidate[],
  databaseUrl: string,
): Promise<EndpointResult> {
  await checkAnswers(endpoint, candidates, databaseUrl);
  const cold = await measureColdStarts(endpoint, candidates, databaseUrl, effort.coldRounds);
  const warm = await measureWarmCalls(endpoint, candidates, databaseUrl, {
    rounds: effort.warmRounds,
    warmUpCalls: effort.warmUpCalls,
    callsPerRound: effort.calls,
  });
  return summarizeEndpoint(endpoint.route, candidates, cold, warm);
}

async function measureAllLists(endpoint: EndpointCall): Promise<ListResult[]> {
  const candidates = await prepareCandidates(endpoint, folder, join(folder, 'peers'));
  const ours = candidates.filter(({ name }) => name === 'ours');
  const naive = candidates.filter(({ name }) => name === 'bare');
  const variants = [
    ...ours.flatMap((candidate) =>
      [undefined, 'gzip', 'br', 'zstd'].map((acceptEncoding) => ({
        name: acceptEncoding ? `ours, ${acceptEncoding}` : 'ours',
        candidate,
        environment: listSettings,
        ...(acceptEncoding && { acceptEncoding }),
      })),
    ),
    ...naive.map((candidate) => ({ name: 'naive', candidate })),
  ];
  const results: ListResult[] = [];
  for (const bookCount of effort.bookCounts) {
    const database = await (options.dynalite ? startDynalite : startStub)(bookCount);
    for (const variant of variants) {
      results.push(...(await measureLists(endpoint, variant, database.url, bookCount, listsOf(bookCount))));
    }
    await database.stop();
    console.error(`lists of ${bookCount} measured`);
  }
  return results;
}
