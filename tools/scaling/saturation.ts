import { counterKey } from '../../lib/dynamodb/keys.ts';
import { PartitionLoad } from './partition-load.ts';
import {
  createBooks,
  listAllBooks,
  listPages,
  startInstances,
  touchBooks,
  type Workload,
} from './workloads.ts';

/** Beyond every other limit of an AWS account. */
const highestRate = 100_000;

const kilobyte = 1024;
const million = 1_000_000;

const scenarios: readonly (readonly [string, Workload])[] = [
  ['Create books of 100 B', createBooks(100)],
  ['Create books of 3 KB', createBooks(3 * kilobyte)],
  ['Create books of 400 KB', createBooks(400 * kilobyte)],
  ['Create books of 100 B, ids in blocks of 100', createBooks(100, 100)],
  ['Create books of 100 B, ids in blocks of 1,000', createBooks(100, 1_000)],
  ['Create books of 100 B, ids in blocks of 10,000', createBooks(100, 10_000)],
  ['Update or delete one book of 100 B', touchBooks('write', 100, 1)],
  ['Update or delete any of 1,000,000 books of 100 B', touchBooks('write', 100, million)],
  ['Get one book of 100 B', touchBooks('read', 100, 1)],
  ['Get one book of 400 KB', touchBooks('read', 400 * kilobyte, 1)],
  ['Get any of 9,999 books of 100 B', touchBooks('read', 100, 9_999)],
  ['Get any of 1,000,000 books of 100 B', touchBooks('read', 100, million)],
  ['List the same 100 books of 100 B', listPages(100, 100, 1)],
  ['List 100 of 1,000,000 books of 100 B', listPages(100, 100, million)],
  ['List all of 9,999 books of 100 B', listAllBooks(100, 9_999)],
  ['List all of 1,000,000 books of 100 B', listAllBooks(100, million)],
  ['Start instances', startInstances()],
];

/**
 * Finds for each scenario the highest rate at which no partition is over its limits.
 *
 * @returns a Markdown table
 */
export function simulateSaturation(): string {
  const rows = scenarios.map(([name, workload]) => {
    const rate = findHighestRate(workload);
    const saturated = rate < highestRate ? describeBusiest(workload, rate + 1) : 'none';
    return `| ${name} | ${rate < highestRate ? rate.toLocaleString('en-US') : 'over 100,000'} | ${saturated} |`;
  });
  return ['| Requests | A second | What is full |', '|---|---|---|', ...rows].join('\n');
}

function findHighestRate(workload: Workload): number {
  let fits = 0;
  let tooHigh = highestRate + 1;
  while (tooHigh - fits > 1) {
    const rate = Math.floor((fits + tooHigh) / 2);
    if (findBusiest(workload, rate).busiestShare <= 1) fits = rate;
    else tooHigh = rate;
  }
  return fits;
}

/** The second in which a partition is nearest to its limit, or over it. */
function findBusiest(workload: Workload, rate: number): PartitionLoad {
  let busiest = new PartitionLoad();
  for (const second of workload(rate)) {
    const load = new PartitionLoad();
    for (const access of second) load.add(access);
    if (load.busiestShare > busiest.busiestShare) busiest = load;
    if (busiest.busiestShare > 1) break;
  }
  return busiest;
}

function describeBusiest(workload: Workload, rate: number): string {
  const { shard, kind } = findBusiest(workload, rate).busiest;
  return `${kind}s of ${shard === counterKey.shard ? 'the counter' : 'a shard'}`;
}
