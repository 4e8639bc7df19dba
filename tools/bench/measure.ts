import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpoints } from './calls.ts';
import { packageCandidates } from './candidates.ts';
import { checkResponses } from './check-responses.ts';
import { checkInstructions, hasValgrind } from './guard.ts';
import { measureLists } from './lists.ts';
import { readBenchOptions } from './options.ts';
import { writeReport } from './report.ts';
import { measureColdStarts, measureWarmCalls } from './rounds.ts';
import { type EndpointResult, summarizeCandidate } from './statistics.ts';
import { startStub } from './stub-dynamodb.ts';

const { isGuard, full, only: parts, against } = readBenchOptions();
const reference = against ? 'before' : 'bare';

/** A few minutes' worth, or figures to publish. */
const effort = full
  ? { coldRounds: 20, rounds: 8, warmUpCalls: 700, calls: 300, bookCounts: [1e3, 1e4, 1e5, 1e6] }
  : { coldRounds: 4, rounds: 3, warmUpCalls: 200, calls: 100, bookCounts: [1e3, 1e4, 1e5] };

if (isGuard && !hasValgrind()) {
  console.log('There is no valgrind on this machine: instructions were not counted.');
  process.exit(77);
}
const folder = await mkdtemp(join(tmpdir(), 'book-catalog-bench-'));
const stub = await startStub(1);
try {
  const prepare = await packageCandidates(folder, stub.url, against);
  if (isGuard) {
    if (!(await checkInstructions(prepare))) process.exitCode = 1;
  } else {
    const measured: EndpointResult[] = [];
    for (const endpoint of endpoints) {
      if (parts ? !parts.includes(endpoint.name) : !(endpoint.hasPeers || against)) continue;
      const candidates = await prepare(endpoint);
      await checkResponses(endpoint, candidates);
      const cold = await measureColdStarts(endpoint, candidates, effort.coldRounds);
      const warm = await measureWarmCalls(endpoint, candidates, effort);
      const summaries = candidates.map((candidate) => summarizeCandidate(candidate, reference, cold, warm));
      measured.push({ endpoint: endpoint.name, candidates: summaries });
      console.error(`${endpoint.name} measured`);
    }
    const lists = !parts || parts.includes('lists') ? await measureLists(prepare, effort.bookCounts) : [];
    // Only a full run replaces the published figures.
    const isPublished = full && !parts && !against;
    await writeReport(
      join(import.meta.dirname, isPublished ? '../../docs/benchmarks' : 'results'),
      measured,
      lists,
    );
  }
} finally {
  stub.stop();
  await rm(folder, { recursive: true, force: true });
}
