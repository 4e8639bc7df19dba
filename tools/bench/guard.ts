/**
 * `npm run bench -- guard`: counts instructions of two functions as they are deployed and ends with exit code 1 when one
 * takes more than it may, in relation to what it is compared with. Exit code 77 without valgrind.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageFunctions } from '../../test/aws/runtime/package-functions.ts';
import { prepareCandidates } from './candidates.ts';
import { type EndpointName, endpoints } from './endpoints.ts';
import { countInstructions, hasValgrind, type InstructionCount } from './instructions.ts';
import { startServer } from './server-process.ts';

/**
 * Ratios of ours to another's, with room for chance: cold starts differ by 2 % from run to run and by 4 % more for each
 * time limit that valgrind makes strike, calls by 10 %, short ones by 20 %, as V8 optimizes when it likes.
 */
const limits: readonly {
  readonly endpoint: EndpointName;
  readonly reference: string;
  readonly cold: number;
  readonly call: number;
}[] = [
  { endpoint: 'get-book', reference: 'bare', cold: 0.65, call: 1.1 },
  { endpoint: 'create-token', reference: 'no-op', cold: 1.6, call: 2.5 },
];

if (hasValgrind()) {
  const folder = await mkdtemp(join(tmpdir(), 'book-catalog-guard-'));
  try {
    await packageFunctions(folder);
    await checkLimits(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
} else {
  console.log('There is no valgrind on this machine: instructions were not counted.');
  process.exitCode = 77;
}

async function checkLimits(folder: string): Promise<void> {
  const stub = await startServer(join(import.meta.dirname, 'stub-dynamodb.ts'));
  for (const { endpoint: name, reference, ...limit } of limits) {
    const endpoint = endpoints.find((one) => one.name === name);
    if (endpoint === undefined) throw new Error(`there is no endpoint ${name}`);
    const all = await prepareCandidates(endpoint, folder, join(folder, 'peers'));
    const two = all.filter((one) => one.name === 'ours' || one.name === reference);
    const counts = await countInstructions(endpoint, two, `${stub.endpoint}/books`, folder);
    for (const measure of ['cold', 'call'] as const) {
      const most = limit[measure];
      const ratio = countOf(counts, 'ours')[measure] / countOf(counts, reference)[measure];
      const verdict = ratio <= most ? 'within' : 'OVER';
      console.log(
        `${endpoint.route}, ${measure}: ${ratio.toFixed(2)} of ${reference}, ${verdict} the limit of ${most}`,
      );
      if (ratio > most) process.exitCode = 1;
    }
  }
  await stub.stop();
}

function countOf(counts: readonly InstructionCount[], name: string): InstructionCount {
  const count = counts.find(({ candidate }) => candidate === name);
  if (count === undefined) throw new Error(`nothing was counted for ${name}`);
  return count;
}
