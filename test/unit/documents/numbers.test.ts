import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { minSecretBytes } from '../../../lib/config.ts';
import { repeatableSeconds } from '../../../lib/dynamodb/books/idempotency-claim.ts';
import { shardWidth } from '../../../lib/dynamodb/table/keys.ts';
import { memorySize } from '../../../serverless/functions.ts';
import { maxBodyBytes } from '../../../serverless/local/gateway/request-body.ts';
import { idleTimeoutMs } from '../../../tools/client/exchange.ts';
import { renewAfterMs } from '../../../tools/client/login.ts';
import { defaultLimitMs, firstResponseMs } from '../../../tools/client/retries.ts';

const stages = parse(readFileSync('serverless/stages.yml', 'utf8'));
const prod = { ...stages.default, ...stages.prod };
const dev = { ...stages.default, ...stages.dev };
const limits = [prod.throttlingRateLimit, prod.throttlingBurstLimit];
const devLimits = [dev.throttlingRateLimit, dev.throttlingBurstLimit];
const loginLimits = [prod.tokenThrottlingRateLimit, prod.tokenThrottlingBurstLimit];
const keyDays = repeatableSeconds / (24 * 60 * 60);
const leastNode = Number(JSON.parse(readFileSync('package.json', 'utf8')).engines.node.replace('>=', ''));
const bodyMegabytes = maxBodyBytes / 1024 ** 2;

/** Sentences whose numbers stand in the code as well. */
test.each<[string, RegExp, readonly number[]]>([
  ['docs/specification.md', /with the same fields within (\d+) days/, [keyDays]],
  ['openapi.yaml', /visible ASCII characters, remembered for (\d+) days/, [keyDays]],
  ['openapi.yaml', /Within (\d+) days, requests with the same key/, [keyDays]],
  ['tools/client/book-catalog-client.ts', /same key and fields make one book, for (\d+) days/, [keyDays]],
  ['docs/specification.md', /does a body larger than (\d+) MB/, [bodyMegabytes]],
  ['docs/specification.md', /A secret under (\d+) bytes/, [minSecretBytes]],
  ['README.md', /With Node ([\d.]+) or newer/, [leastNode]],
  ['docs/deployment.md', /Node ([\d.]+) or newer with npm/, [leastNode]],
  ['CONTRIBUTING.md', /machine's own, ([\d.]+) or newer/, [leastNode]],
  ['README.md', /signs tokens, (\d+) bytes or more/, [minSecretBytes]],
  ['docs/api.md', /\| `prod` \| ([\d,]+) \| ([\d,]+) \|/, limits],
  ['docs/api.md', /\| `dev`, and temporary stages \| ([\d,]+) \| ([\d,]+) \|/, devLimits],
  ['docs/api.md', /\| `POST \/token`, in each \| (\d+) \| (\d+) \|/, loginLimits],
  ['docs/scaling.md', /Throttling of `prod` \| ([\d,]+) a second in bursts of ([\d,]+)/, limits],
  ['docs/scaling.md', /Throttling of other stages \| ([\d,]+) a second in bursts of ([\d,]+)/, devLimits],
  ['docs/scaling.md', /Logins, against guessing \| (\d+) a second in bursts of (\d+)/, loginLimits],
  ['docs/scaling.md', /A partition key is a shard of ([\d,]+) ids/, [shardWidth]],
  ['docs/scaling.md', /`ConcurrencyAlarm` goes off at ([\d,]+) instances/, [prod.maxConcurrency]],
  ['docs/operations.md', /(\d+) days in `prod`, (\d+) in `dev`/, [prod.logRetentionInDays, dev.logRetentionInDays]],
  ['docs/operations.md', /`prod` accepts ([\d,]+) requests a second/, [limits[0]]],
  ['docs/operations.md', /\| ([\d,]+) GETs of a book a second \| The stage/, [limits[0]]],
  ['docs/operations.md', /\| ([\d,]+) pages of 1,000 books a second \| The stage/, [limits[0]]],
  ['docs/operations.md', /\| A GB-second of Lambda, with ([\d,]+) MB of memory/, [memorySize]],
  ['CONTRIBUTING.md', /`floor\(id \/ (\d+)\)`/, [shardWidth]],
  ['docs/api.md', /keep the token for (\d+) minutes/, [renewAfterMs / 60_000]],
  ['tools/client/README.md', /some of it arrives every (\d+) seconds/, [idleTimeoutMs / 1000]],
  ['tools/client/README.md', /gives up after (\d+) minutes/, [defaultLimitMs / 60_000]],
  ['tools/client/README.md', /never responded, it gives up after (\d+) seconds/, [firstResponseMs / 1000]],
])('%s says what the code has: %s', (file, sentence, values) => {
  const text = readFileSync(file, 'utf8').replaceAll(/\s+/g, ' ');
  const said = sentence.exec(text)?.slice(1);
  expect(said?.map((number) => Number(number.replaceAll(',', '')))).toEqual(values);
});
