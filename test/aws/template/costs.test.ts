import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { memorySize } from '../../../serverless/functions.ts';
import { findResources, readTemplate } from './template.ts';

/** US dollars, in us-east-1, on demand, arm64, without the free tier. */
const perMillion = { apiRequest: 3.5, invocation: 0.2, writeUnit: 0.625, readUnit: 0.125, trace: 5 };
const perGb = { log: 0.5, dataOut: 0.09, streamed: 0.008 };
const perGbSecond = 0.0000133334;
const perMonth = { secret: 0.4, dashboard: 3, metricOfAlarm: 0.1, customMetric: 0.3 };

const bytesOfBook = { stored: 117, asJson: 90 };
const bytesOfHeaders = 400;
const bytesOfLog = 1_200;
const shareOfTraces = 1 / 20;
const booksOfShard = 10_000;
const booksOfQuery = 5_000;
const shardReadsPerSecond = 3_000;

/** The read units of Query requests, strongly consistent, each with this many books. */
const readUnits = (books: number) => Math.ceil((books * bytesOfBook.stored) / 4_096);
const lambdaSeconds = (seconds: number) => (seconds * memorySize * perGbSecond) / 1_024;

/** Measured milliseconds, read units, write units, and books in the response, or the bytes of another one. */
const endpoints = {
  'POST /token': { ms: 1, reads: 0, writes: 0, body: 300 },
  'GET /book/{id}': { ms: 7, reads: 1, writes: 0, body: bytesOfBook.asJson },
  'PUT, DELETE /book/{id}': { ms: 8, reads: 0, writes: 1, body: bytesOfBook.asJson },
  'POST /book': { ms: 14, reads: 0, writes: 2, body: bytesOfBook.asJson },
  // The counter, and a transaction of claim and book, which counts twice.
  'POST /book with an `Idempotency-Key`': { ms: 14, reads: 0, writes: 1 + 2 * 2, body: bytesOfBook.asJson },
  'GET /books?limit=100': { ms: 13, reads: readUnits(101), writes: 0, body: 100 * bytesOfBook.asJson },
  'GET /books of 1,000 books': { ms: 44, reads: 1 + readUnits(1_000), writes: 0, body: 1_000 * bytesOfBook.asJson },
};

const operations = readFileSync('docs/operations.md', 'utf8');

/** Finds the amounts in a sentence of a document, which may be broken into lines. */
function findAmounts(sentence: RegExp, document = operations): readonly string[] {
  return sentence.exec(document.replaceAll(/\s+/g, ' '))?.slice(1) ?? [];
}

const dollars = (amount: number) => `$${amount.toFixed(2)}`;

test.each(Object.entries(endpoints))('the table of costs has a million requests to %s', (name, request) => {
  const { ms, reads, writes, body } = request;
  const parts = [
    perMillion.apiRequest,
    perMillion.invocation + lambdaSeconds(ms * 1_000),
    reads * perMillion.readUnit + writes * perMillion.writeUnit,
    (bytesOfLog / 1_000) * perGb.log + shareOfTraces * perMillion.trace,
    ((bytesOfHeaders + body) / 1_000) * perGb.dataOut,
  ];
  const sum = dollars(parts.reduce((total, part) => total + part));

  const row = operations.split('\n').find((line) => line.startsWith(`| ${name} |`));
  expect(row).toBe(`| ${[name, ms, reads, writes, ...parts.map(dollars), `**${sum}**`].join(' | ')} |`);
});

test('the costs of whole lists follow from the same prices', () => {
  const costOf = (megabytes: number) => {
    const slow = megabytes - 6;
    const reads = ((megabytes * 1e6) / bytesOfBook.asJson) * (bytesOfBook.stored / 4_096) * perMillion.readUnit * 1e-6;
    const time = lambdaSeconds(slow / 2);
    const data = (megabytes * perGb.dataOut + slow * perGb.streamed) / 1_000;
    return (megabytes / 10) * perMillion.apiRequest * 1e-6 + reads + time + data;
  };
  const shardUnits = (booksOfShard / booksOfQuery) * readUnits(booksOfQuery);
  const million = ((shardUnits * 1e6) / booksOfShard) * perMillion.readUnit * 1e-6;

  expect(findAmounts(/the reads of a million books cost (\S+)\./)).toEqual([`$${million.toFixed(4)}`]);
  expect(findAmounts(/A list of 10 MB costs (\S+), one of 200 MB (\S+),/)).toEqual([
    `$${costOf(10).toFixed(4)}`,
    `$${costOf(200).toFixed(3)}`,
  ]);
  const ofScaling =
    /\*\*Whole lists\.\*\* (\d+) a second, .* a full shard .* costs (\d+) read units\. .* costs ([\d,]+),/;
  expect(findAmounts(ofScaling, readFileSync('docs/scaling.md', 'utf8'))).toEqual([
    String(Math.floor(shardReadsPerSecond / shardUnits)),
    String(shardUnits),
    (shardUnits * 100).toLocaleString('en'),
  ]);
});

test('the costs of a month without traffic follow from the template', () => {
  const template = readTemplate();
  const alarms = Object.values(findResources(template, 'AWS::CloudWatch::Alarm'));
  const metrics = alarms.flatMap(({ Properties: { Metrics = [{ MetricStat: {} }] } }) =>
    Metrics.filter((metric: object) => 'MetricStat' in metric),
  );
  const ofType = (type: string) => Object.keys(findResources(template, type)).length;
  const month =
    ofType('AWS::SecretsManager::Secret') * perMonth.secret +
    ofType('AWS::CloudWatch::Dashboard') * perMonth.dashboard +
    ofType('AWS::Logs::MetricFilter') * perMonth.customMetric +
    metrics.length * perMonth.metricOfAlarm;

  const amounts = findAmounts(/A month without traffic costs (\S+) /);
  expect(amounts, 'the costs of a month without traffic in docs/operations.md').toEqual([dollars(month)]);
});
