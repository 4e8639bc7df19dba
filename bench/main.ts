import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageFunctions } from '../test/runtime/package-functions.ts';
import { prepareCandidates } from './candidates.ts';
import { checkAnswers } from './check-answers.ts';
import { measureColdStarts } from './cold-starts.ts';
import { endpoints } from './endpoints.ts';
import { startServer } from './server-process.ts';
import { summarize } from './statistics.ts';
import { measureWarmCalls } from './warm-calls.ts';

const folder = await mkdtemp(join(tmpdir(), 'book-catalog-bench-'));
const stub = await startServer(join(import.meta.dirname, 'stub-dynamodb.ts'));
const databaseUrl = `${stub.endpoint}/books`;
await packageFunctions(folder);
const only = process.argv[2]?.split(',');
for (const endpoint of endpoints.filter(({ name }) => !only || only.includes(name))) {
  const candidates = await prepareCandidates(endpoint, folder, join(folder, 'peers'));
  await checkAnswers(endpoint, candidates, databaseUrl);
  const cold = await measureColdStarts(endpoint, candidates, databaseUrl, 5);
  const warm = await measureWarmCalls(endpoint, candidates, databaseUrl, {
    rounds: 5,
    warmUpCalls: 300,
    callsPerRound: 200,
  });
  console.log(endpoint.route);
  for (const { name, bytes } of candidates) {
    const c = cold.filter(({ candidate }) => candidate === name);
    const w = warm.filter(({ candidate }) => candidate === name);
    const m = (values: number[]) => summarize(values).median.toFixed(2);
    console.log(
      name,
      Math.round(bytes / 1000),
      'kB cold',
      m(c.map((r) => r.wallMs)),
      m(c.map((r) => r.cpuMs)),
      'warm',
      m(w.map((r) => r.cpuMs)),
      m(w.map((r) => r.wallMs)),
      m(w.map((r) => r.peakMemoryMb)),
    );
  }
}
await stub.stop();
await rm(folder, { recursive: true, force: true });
