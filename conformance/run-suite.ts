import type { ConformanceCase } from './case.ts';
import { Catalog } from './catalog.ts';
import type { HttpResponse } from './http-client.ts';
import { inParallel } from './in-parallel.ts';
import { Session, type SessionOptions } from './session.ts';
import { conformanceCases } from './suite.ts';

const casesAtOnce = 8;

/** Logins are throttled; the others send many requests or fetch large lists. */
const groupsOneAtATime: ReadonlySet<string> = new Set(['token-endpoint', 'lists', 'concurrency']);

/** The largest list that cases may read repeatedly. A stream from Lambda is slow from 6 MB on. */
const maxListBytes = 1_000_000;

/** After Ctrl-C. */
const interruptedCode = 130;

/** The messages of node:assert hold what differs, whole books at worst. */
const shownCharacters = 1200;

/** How a case ended, and the responses that it received. */
export interface CaseResult {
  readonly conformanceCase: ConformanceCase;
  readonly verdict: 'passed' | 'different' | 'FAILED';
  readonly responses: readonly HttpResponse[];
  /** Why it did not pass. */
  readonly message: string;
}

/** Options of a run. */
export interface SuiteOptions extends SessionOptions {
  /** Groups, and names of cases, to leave out. */
  readonly without?: readonly string[] | undefined;
  /** Whether a case with a question about API Gateway may have another outcome than the local service. */
  readonly toleratesGateway?: boolean;
  /** Receives the cases with a question about API Gateway. */
  readonly report?: (gatewayCases: readonly CaseResult[]) => void;
}

/**
 * Runs the suite against a service, and prints a line per group and each failed case.
 *
 * @returns the exit code: 0 when all cases passed and their books are deleted, otherwise 1, or 130 after Ctrl-C
 */
export async function runSuite(options: SuiteOptions): Promise<number> {
  const interruption = new AbortController();
  process.once('SIGINT', () => {
    console.error('Interrupted; deleting the books of this run. Ctrl-C again ends at once.');
    interruption.abort(new Error('interrupted'));
  });
  const { signal } = interruption;
  const session = new Session({ ...options, signal });
  try {
    session.listStart = await findListStart(session);
  } catch (error) {
    console.error(`The service at ${options.baseUrl} cannot be tested: ${(error as Error).message}`);
    session.close();
    return 1;
  }
  const results: CaseResult[] = [];
  let skipped = 0;
  for (const [group, cases] of Map.groupBy(conformanceCases, (one) => one.group)) {
    if (signal.aborted) break;
    const { run = [], ...left } = Object.groupBy(
      cases,
      (one) => findReasonToSkip(one, session, options.without) ?? 'run',
    );
    if (run.length > 0) results.push(...(await runGroup(group, run, session, options.toleratesGateway)));
    for (const [reason, { length }] of Object.entries(left) as [string, ConformanceCase[]][]) {
      console.log(`${group}: ${length} not run${reason}`);
      skipped += length;
    }
  }
  session.close();
  const { undeleted } = session;
  if (undeleted.length > 0) console.error(`Books that could not be deleted: ${undeleted.join(', ')}`);
  if (signal.aborted) return interruptedCode;
  const different = count(results, 'different');
  if (different > 0) console.log(`${different} differ from the local service`);
  // `.ci/run` adds these lines up.
  console.log(`${count(results, 'passed')} passed, ${count(results, 'FAILED')} failed, ${skipped} skipped`);
  options.report?.(results.filter(({ conformanceCase }) => conformanceCase.gatewayQuestion !== undefined));
  return undeleted.length === 0 && count(results, 'FAILED') === 0 ? 0 : 1;
}

/** @returns the printed reason why a case does not run; `undefined` when it runs */
function findReasonToSkip(
  { name, group, needsSecret, readsWholeList }: ConformanceCase,
  { options, listStart }: Session,
  without: readonly string[] = [],
): string | undefined {
  if (without.includes(group) || without.includes(name)) return '';
  if (needsSecret && options.secret === undefined) return ' (they need --secret)';
  return readsWholeList && listStart !== undefined ? ' (they read the whole catalog)' : undefined;
}

async function runGroup(
  group: string,
  cases: readonly ConformanceCase[],
  session: Session,
  toleratesGateway = false,
): Promise<readonly CaseResult[]> {
  const startedAt = performance.now();
  const width = groupsOneAtATime.has(group) ? 1 : casesAtOnce;
  const results = await inParallel(cases.length, width, async (index): Promise<CaseResult> => {
    const conformanceCase = cases[index] as ConformanceCase;
    const hasQuestion = conformanceCase.gatewayQuestion !== undefined;
    const responses: HttpResponse[] = [];
    try {
      await conformanceCase.run(session, hasQuestion ? responses : undefined);
      return { conformanceCase, responses, verdict: 'passed', message: '' };
    } catch (error) {
      const verdict = toleratesGateway && hasQuestion ? 'different' : 'FAILED';
      return { conformanceCase, responses, verdict, message: (error as Error).message };
    }
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const failed = results.filter(({ verdict }) => verdict !== 'passed');
  console.log(`${group}: ${results.length - failed.length} of ${results.length} passed (${seconds} s)`);
  for (const result of failed) console.log(formatFailure(result));
  return results;
}

function count(results: readonly CaseResult[], verdict: CaseResult['verdict']): number {
  return results.filter((result) => result.verdict === verdict).length;
}

function formatFailure({ verdict, conformanceCase: { name, rules }, message }: CaseResult): string {
  const title = verdict === 'different' ? 'differs from the local service' : verdict;
  const isLong = message.length > shownCharacters;
  const shown = isLong ? `${message.slice(0, shownCharacters)} … (${message.length} characters)` : message;
  return `  ${title}: ${name}\n    rules ${rules.join(', ')}\n    ${shown.replaceAll('\n', '\n    ')}`;
}

/** @returns an id below those of all books of this run, or `undefined` when each case may read the whole catalog */
async function findListStart(session: Session): Promise<number | undefined> {
  const headers = { Authorization: await session.token() };
  const request = { method: 'GET', path: '/books', headers, maxResponseBytes: maxListBytes };
  const { body } = await session.client.send(request);
  if (body.length < maxListBytes) return undefined;
  console.log('The catalog is large: lists are read in pages, from the first book of this run.');
  const catalog = new Catalog(session);
  try {
    return await catalog.createMissingId();
  } finally {
    await catalog.cleanUp();
  }
}
