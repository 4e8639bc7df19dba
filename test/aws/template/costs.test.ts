import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { logRequests } from '../../../lib/log.ts';
import { endpointNames, memorySize } from '../../../serverless/functions.ts';
import { measuredMs } from '../../../tools/operations/invocation-reports.ts';
import { captureLog } from '../../support/captured-log.ts';
import { findResources, readTemplate } from './template.ts';

const template = readTemplate();

/** Finds the properties of the resources of a type. */
const propertiesOf = (type: string) =>
  Object.values(findResources(template, `AWS::${type}`)).map(({ Properties }) => Properties);

/** US dollars, in us-east-1, on demand, arm64, without the free tier. */
const perMillion = { apiRequest: 3.5, invocation: 0.2, writeUnit: 0.625, readUnit: 0.125, trace: 5 };
const perGb = { log: 0.5, dataOut: 0.09, streamed: 0.008, restored: 0.0001397998 };
const perGbSecond = { lambda: 0.0000133334, snapshot: 0.0000015046 };
const perMonth = { secret: 0.4, dashboard: 3, metricOfAlarm: 0.1, customMetric: 0.3 };

const secondsOf = { day: 86_400, month: 730 * 3_600 };
const bytesOfBook = { stored: 117, asJson: 90 };
const bytesOfHeaders = 400;
const bytesOfLog = Math.round(measureLog() / 100) * 100;
const [{ SamplingRule: samplingRule }] = propertiesOf('XRay::SamplingRule');
const booksOfShard = 10_000;
const booksOfQuery = 5_000;
const shardReadsPerSecond = 3_000;
/** DynamoDB's quota for a table. */
const tableUnitsPerSecond = 40_000;
/** Lambda's, beyond the first 6 MB of a response. */
const streamedMegabytesPerSecond = 2;

/** The read units of Query requests, strongly consistent, each with this many books. */
const readUnits = (books: number) => Math.ceil((books * bytesOfBook.stored) / 4_096);
const shardUnits = (booksOfShard / booksOfQuery) * readUnits(booksOfQuery);
const unitsOfMillion = (shardUnits * 1e6) / booksOfShard;
const gigabytesOf = (megabytes: number) => megabytes / 1_024;
const lambdaSeconds = (seconds: number, megabytes = memorySize) =>
  seconds * gigabytesOf(megabytes) * perGbSecond.lambda;

interface Request {
  /** Measured milliseconds of the function, with which the smoke test compares. */
  readonly ms: number;
  readonly reads: number;
  readonly writes: number;
  /** Bytes of the body of the response. */
  readonly body: number;
}

const { createToken, createBook, listBooks, getBook, updateBook, deleteBook } = measuredMs;

const endpoints = {
  'POST /token': { ms: createToken, reads: 0, writes: 0, body: 300 },
  'GET /book/{id}': { ms: getBook, reads: 1, writes: 0, body: bytesOfBook.asJson },
  'PUT, DELETE /book/{id}': { ms: Math.max(updateBook, deleteBook), reads: 0, writes: 1, body: bytesOfBook.asJson },
  'POST /book': { ms: createBook, reads: 0, writes: 2, body: bytesOfBook.asJson },
  // The counter, and a transaction of claim and book, which counts twice.
  'POST /book with an `Idempotency-Key`': { ms: createBook, reads: 0, writes: 1 + 2 * 2, body: bytesOfBook.asJson },
  'GET /books?limit=100': { ms: listBooks, reads: readUnits(101), writes: 0, body: 100 * bytesOfBook.asJson },
  'GET /books of 1,000 books': { ms: 44, reads: 1 + readUnits(1_000), writes: 0, body: 1_000 * bytesOfBook.asJson },
} as const;

/** The INIT phase of getBook, which reads the counter. */
const coldStart = { ms: 304, reads: 1, writes: 0 };

const costOfDatabase = ({ reads, writes }: Pick<Request, 'reads' | 'writes'>) =>
  reads * perMillion.readUnit + writes * perMillion.writeUnit;

/** The costs of a million requests: API, Lambda, DynamoDB, logs and traces, data. */
const partsOf = (request: Request) => [
  perMillion.apiRequest,
  perMillion.invocation + lambdaSeconds(request.ms * 1_000),
  costOfDatabase(request),
  (bytesOfLog / 1_000) * perGb.log + samplingRule.FixedRate * perMillion.trace,
  ((bytesOfHeaders + request.body) / 1_000) * perGb.dataOut,
];
const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
const costOf = (request: Request) => sum(partsOf(request)) / 1e6;

/** Stored bytes for each byte of a list's JSON. */
const storedBytes = { usual: bytesOfBook.stored / bytesOfBook.asJson, ofControlCharacters: 1 / '\\u0001'.length };
const unitsOfList = (megabytes: number, stored = storedBytes.usual) => (megabytes * 1e6 * stored) / 4_096;

/** The costs of one whole list of this size. */
function costOfList(megabytes: number, stored = storedBytes.usual): number {
  const slow = megabytes - 6;
  const reads = unitsOfList(megabytes, stored) * perMillion.readUnit * 1e-6;
  const time = lambdaSeconds(slow / streamedMegabytesPerSecond);
  const data = (megabytes * perGb.dataOut + slow * perGb.streamed) / 1_000;
  return (megabytes / 10) * perMillion.apiRequest * 1e-6 + reads + time + data;
}

/** The bytes that a GET of a book writes: the access log, the line of the function, and those of Lambda. */
function measureLog(): number {
  const id = 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef';
  const values: Readonly<Record<string, string>> = {
    ...{ requestId: id, 'integration.requestId': id, xrayTraceId: '1-5759e988-bd862e3fe1be46a994272793' },
    ...{ requestTimeEpoch: '1795252492369', 'identity.sourceIp': '203.0.113.197', httpMethod: 'GET' },
    ...{ resourcePath: '/book/{id}', protocol: 'HTTP/1.1', status: '200', 'error.responseType': '-' },
    ...{ responseLength: '144', responseLatency: '24', 'integration.status': '200', 'integration.latency': '22' },
  };
  const [{ AccessLogSetting }] = propertiesOf('ApiGateway::Stage');
  const access = AccessLogSetting.Format.replaceAll(/\$context\.([\w.]+)/g, (_: string, name: string) => values[name]);

  const log = captureLog();
  const event = { httpMethod: 'GET', resource: '/book/{id}', requestContext: { requestId: id } };
  const internal = { startedAt: performance.now() - 7 };
  const response = { statusCode: 200, body: '' };
  logRequests().after?.({ event, context: { awsRequestId: id }, internal, response } as never);
  const [line] = log.lines;

  // As in Lambda's telemetry schema.
  const tracing = {
    ...{ spanId: '54565fb41ac79632', type: 'X-Amzn-Trace-Id' },
    value: 'Root=1-62e900b2-710d76f009d6e7785905449a;Parent=0efbd19962d95b05;Sampled=0',
  };
  const time = '2026-10-08T07:30:29.470Z';
  const functionArn = 'arn:aws:lambda:us-east-1:123456789012:function:book-catalog-prod-getBook';
  const metrics = { durationMs: 7.96, billedDurationMs: 8, memorySizeMB: memorySize, maxMemoryUsedMB: 123 };
  const ofLambda = [
    { time, type: 'platform.start', record: { requestId: id, functionArn, version: '$LATEST', tracing } },
    { time, type: 'platform.report', record: { requestId: id, metrics, tracing, status: 'success' } },
  ];
  return [access, ...[line, ...ofLambda].map((each) => JSON.stringify(each))].join('').length;
}

const read = (document: string) => readFileSync(document, 'utf8');
const operations = read('docs/operations.md');
const scaling = read('docs/scaling.md');

/** Finds the amounts in a sentence of a document, which may be broken into lines. */
function findAmounts(sentence: RegExp, document = operations): readonly string[] {
  return sentence.exec(document.replaceAll(/\s+/g, ' '))?.slice(1) ?? [];
}

const findRow = (name: string) => operations.split('\n').find((line) => line.startsWith(`| ${name} |`));
const dollars = (amount: number) => `$${amount.toFixed(2)}`;
const formatRow = (cells: readonly unknown[], parts: readonly number[]) =>
  `| ${[...cells, ...parts.map(dollars), `**${dollars(sum(parts))}**`].join(' | ')} |`;
const wholeDollars = (amount: number) => `$${Math.round(amount).toLocaleString('en')}`;

test('the table of prices has the bytes that a request writes to logs', () => {
  expect(findAmounts(/\| A GB of logs, at (\S+) KB a request \| (\S+) \|/)).toEqual([
    `${bytesOfLog / 1_000}`,
    dollars(perGb.log),
  ]);
});

test.each(Object.entries<Request>(endpoints))('the table of costs has a million requests to %s', (name, request) => {
  const { ms, reads, writes } = request;
  expect(findRow(name)).toBe(formatRow([name, ms, reads, writes], partsOf(request)));
});

test('the table of costs has what a million cold starts add', () => {
  const name = 'A cold start, in addition';
  const { ms, reads, writes } = coldStart;
  const parts = [0, lambdaSeconds(ms * 1_000), costOfDatabase(coldStart), 0, 0];
  expect(findRow(name)).toBe(formatRow([name, ms, reads, writes], parts));
});

test('the costs of INIT follow from the price and the memory of the functions', () => {
  expect(findAmounts(/(\S+) for each 100 ms of a million cold starts/)).toEqual([dollars(lambdaSeconds(1e6 * 0.1))]);
});

test('the costs of whole lists follow from the same prices', () => {
  const million = unitsOfMillion * perMillion.readUnit * 1e-6;

  expect(findAmounts(/the reads of a million books cost (\S+)\./)).toEqual([`$${million.toFixed(4)}`]);
  expect(findAmounts(/A list of 10 MB costs (\S+), one of 200 MB (\S+),/)).toEqual([
    `$${costOfList(10).toFixed(4)}`,
    `$${costOfList(200).toFixed(3)}`,
  ]);
  const ofScaling =
    /\*\*Whole lists\.\*\* (\d+) a second, .* a full shard .* costs (\d+) read units\. .* costs ([\d,]+),/;
  expect(findAmounts(ofScaling, scaling)).toEqual([
    String(Math.floor(shardReadsPerSecond / shardUnits)),
    String(shardUnits),
    unitsOfMillion.toLocaleString('en'),
  ]);
});

const [
  {
    MethodSettings: [{ ThrottlingRateLimit: requestsPerSecond }],
  },
] = propertiesOf('ApiGateway::Stage');
const ofProd = { get: endpoints['GET /book/{id}'], page: endpoints['GET /books of 1,000 books'] };
const megabytesOfMillion = bytesOfBook.asJson;
const listsPerSecond = tableUnitsPerSecond / unitsOfMillion;
/** Of one list, Lambda's most. */
const megabytesStreamed = 200;
const largestPerSecond = tableUnitsPerSecond / unitsOfList(megabytesStreamed, storedBytes.ofControlCharacters);
const kilobytesOfLargeBook = 400;
const update = {
  ...endpoints['PUT, DELETE /book/{id}'],
  writes: kilobytesOfLargeBook,
  body: kilobytesOfLargeBook * 1_024,
};
const updatesPerSecond = tableUnitsPerSecond / update.writes;

test.each([
  [`${requestsPerSecond} GETs of a book a second`, requestsPerSecond * costOf(ofProd.get)],
  [`${requestsPerSecond} pages of 1,000 books a second`, requestsPerSecond * costOf(ofProd.page)],
  [
    `${Math.round(listsPerSecond * 60)} whole lists a minute of a million books`,
    listsPerSecond * costOfList(megabytesOfMillion),
  ],
  [
    `${Math.round(largestPerSecond * 60)} lists a minute of ${megabytesStreamed} MB, of books of control characters`,
    largestPerSecond * costOfList(megabytesStreamed, storedBytes.ofControlCharacters),
  ],
  [`${updatesPerSecond} updates a second of books of ${kilobytesOfLargeBook} KB`, updatesPerSecond * costOf(update)],
])('the costs of a day with %s follow from the same prices', (load, perSecond) => {
  expect(findRow(load)).toMatch(new RegExp(` \\| \\${wholeDollars(perSecond * secondsOf.day)} \\|$`));
});

test('the costs of a day of whole lists with listConcurrency follow from what an instance streams', () => {
  const instances = 5;
  const secondsOfList = (megabytesOfMillion - 6) / streamedMegabytesPerSecond;
  const perDay = (instances / secondsOfList) * secondsOf.day * costOfList(megabytesOfMillion);
  expect(
    findAmounts(/\*\*`listConcurrency`\*\* .* With (\d+) instances, those of a million books cost (\S+) a day/),
  ).toEqual([`${instances}`, wholeDollars(perDay)]);
});

const customMetrics = propertiesOf('Logs::MetricFilter').length * perMonth.customMetric;

/** The costs of a month without traffic. The metrics of the access log exist only in hours with accesses. */
function costOfIdleMonth(): number {
  const metrics = propertiesOf('CloudWatch::Alarm').flatMap(({ Metrics = [{ MetricStat: {} }] }) =>
    Metrics.filter((metric: object) => 'MetricStat' in metric),
  );
  return (
    propertiesOf('SecretsManager::Secret').length * perMonth.secret +
    propertiesOf('CloudWatch::Dashboard').length * perMonth.dashboard +
    metrics.length * perMonth.metricOfAlarm
  );
}

test('the costs of a month without traffic follow from the template', () => {
  const amounts = findAmounts(
    /A month without traffic costs (\S+) .* two more metrics exist, which cost (\S+) a month/,
  );
  const expected = [dollars(costOfIdleMonth()), dollars(customMetrics)];
  expect(amounts, 'the costs of a month without traffic in docs/operations.md').toEqual(expected);
});

test('the costs of the probe follow from its requests', () => {
  const { ProbeServiceEventsRuleSchedule1, ProbeServiceLambdaFunction } = readTemplate('dev-with-all').Resources;
  expect(ProbeServiceEventsRuleSchedule1?.Properties.ScheduleExpression).toBe('rate(5 minutes)');
  const runs = secondsOf.month / 300;
  const own = {
    time: lambdaSeconds(1, ProbeServiceLambdaFunction?.Properties.MemorySize), // a run waits for the network for about a second
    others: (perMillion.invocation + (bytesOfLog / 1_000) * perGb.log) * 1e-6,
  };
  const page = { ...endpoints['GET /books?limit=100'], reads: 1, body: bytesOfBook.asJson };
  const run = costOf(endpoints['POST /token']) + costOf(page) + own.time + own.others;

  expect(findAmounts(/\*\*`probe`\.\*\* It has an alarm, and costs (\S+) a month/)).toEqual([
    dollars(runs * run + perMonth.metricOfAlarm),
  ]);
});

test('README.md has the same costs', () => {
  const amounts = findAmounts(/A million GETs cost (\S+), and a month without traffic (\S+) /, read('README.md'));
  expect(amounts, 'the costs in README.md').toEqual([dollars(costOf(ofProd.get) * 1e6), dollars(costOfIdleMonth())]);
});

test('the instances that docs/scaling.md computes follow from its own rows', () => {
  const find = (sentence: RegExp) => findAmounts(sentence, scaling).map((amount) => Number(amount.replace(',', '')));
  const [perInstance = 0] = find(/\| Lambda, one instance \| (\d+) requests a second/);
  const [ofNewAccount = 0] = find(/1,000 concurrent instances, (\d+) in a new account/);
  const [rate = 0, milliseconds = 0, instances] = find(/([\d,]+) GETs a second of (\d+) ms take ([\d,]+) instances/);

  expect(instances).toBe(Math.max((rate * milliseconds) / 1_000, rate / perInstance));
  const ofTen = find(/The (\d+) instances of a new account serve at most (\d+) requests a second/);
  expect(ofTen).toEqual([ofNewAccount, ofNewAccount * perInstance]);
});

test('the costs of SnapStart in docs/decisions.md follow from its prices', () => {
  const gigabytes = gigabytesOf(memorySize);
  const snapshots = endpointNames.length * gigabytes * perGbSecond.snapshot * secondsOf.month;
  const restores = gigabytes * perGb.restored * 1e6;
  const secondsOfInit = restores / 1e6 / lambdaSeconds(1);
  const costs =
    /SnapStart\.\*\* .* snapshots of all functions cost (\S+) a month.* A million restores cost (\S+), as much as (\d+) s of INIT/;
  expect(findAmounts(costs, read('docs/decisions.md'))).toEqual([
    ...[snapshots, restores].map(wholeDollars),
    secondsOfInit.toFixed(0),
  ]);
});
