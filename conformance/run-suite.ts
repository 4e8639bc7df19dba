import { createMissingId, expectBooks } from './books.ts';
import type { ConformanceCase } from './case.ts';
import { ConformanceContext, type ContextOptions } from './context.ts';
import type { HttpResponse } from './http-client.ts';
import { inParallel } from './in-parallel.ts';
import { conformanceCases } from './suite.ts';

const casesAtOnce = 8;

/** Logins are throttled; the others send many requests or fetch large lists. */
const groupsOneAtATime: ReadonlySet<string> = new Set(['token', 'list-books', 'concurrency']);

/** The largest list that cases may read repeatedly. A stream from Lambda is slow from 6 MB on. */
const maxListBytes = 1_000_000;
const listPages = 10;
const pageLength = 100;

/** After Ctrl-C. */
const interruptedCode = 130;

/** The messages of node:assert hold what differs, whole books at worst. */
const shownCharacters = 1200;

/** How a case ended, and the responses that it received. */
export interface CaseResult {
  readonly conformanceCase: ConformanceCase;
  readonly verdict: 'passed' | 'different' | 'FAILED';
  readonly responses: readonly HttpResponse[];
  readonly error?: unknown;
}

/** Options of a run. */
export interface SuiteOptions extends ContextOptions {
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
    process.once('SIGINT', () => process.exit(interruptedCode));
  });
  const { signal } = interruption;
  const context = new ConformanceContext({ ...options, signal });
  try {
    context.listStart = await findListStart(context);
  } catch (error) {
    console.error(`The service at ${options.baseUrl} cannot be tested: ${(error as Error).message}`);
    context.close();
    return 1;
  }
  if (context.listStart !== undefined) {
    console.log('The catalog is large: lists are read in pages, from the first book of this run.');
  }
  const results: CaseResult[] = [];
  let skipped = 0;
  for (const [group, cases] of Map.groupBy(conformanceCases, (one) => one.group)) {
    if (signal.aborted) break;
    const left = Map.groupBy(cases, (one) => findReasonToSkip(one, context, options.without));
    results.push(...(await runGroup(group, left.get(undefined) ?? [], context, options.toleratesGateway)));
    left.delete(undefined);
    for (const [reason, { length }] of left) {
      console.log(`${group}: ${length} not run${reason}`);
      skipped += length;
    }
  }
  const undeleted = await context.cleanUp();
  context.close();
  if (undeleted.length > 0) console.error(`Books that could not be deleted: ${undeleted.join(', ')}`);
  if (signal.aborted) return interruptedCode;
  const { passed = [], different = [], FAILED = [] } = Object.groupBy(results, ({ verdict }) => verdict);
  if (different.length > 0) console.log(`${different.length} differ from the local service`);
  // `.ci/run` adds these lines up.
  console.log(`${passed.length} passed, ${FAILED.length} failed, ${skipped} skipped`);
  options.report?.(results.filter(({ conformanceCase }) => conformanceCase.gatewayQuestion !== undefined));
  return undeleted.length === 0 && FAILED.length === 0 ? 0 : 1;
}

/** @returns the printed reason why a case does not run; `undefined` when it runs */
function findReasonToSkip(
  { name, group, needsSecret, readsWholeList }: ConformanceCase,
  { options, listStart }: ConformanceContext,
  without: readonly string[] = [],
): string | undefined {
  if (without.includes(group) || without.includes(name)) return '';
  if (needsSecret && options.secret === undefined) return ' (they need --secret)';
  return readsWholeList && listStart !== undefined ? ' (they read the whole catalog)' : undefined;
}

async function runGroup(
  group: string,
  cases: readonly ConformanceCase[],
  context: ConformanceContext,
  toleratesGateway = false,
): Promise<readonly CaseResult[]> {
  if (cases.length === 0) return [];
  const startedAt = performance.now();
  const width = groupsOneAtATime.has(group) ? 1 : casesAtOnce;
  const results = await inParallel(cases.length, width, async (index): Promise<CaseResult> => {
    const conformanceCase = cases[index] as ConformanceCase;
    const responses: HttpResponse[] = [];
    const hasQuestion = conformanceCase.gatewayQuestion !== undefined;
    try {
      await conformanceCase.run(context, hasQuestion ? responses : undefined);
      return { conformanceCase, responses, verdict: 'passed' };
    } catch (error) {
      const verdict = toleratesGateway && hasQuestion ? 'different' : 'FAILED';
      return { conformanceCase, responses, verdict, error };
    }
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${group}: ${countVerdicts(results)} (${seconds} s)`);
  for (const result of results) if (result.verdict !== 'passed') console.log(formatFailure(result));
  return results;
}

function countVerdicts(results: readonly CaseResult[]): string {
  const groups = { passed: [], ...Object.groupBy(results, ({ verdict }) => verdict) };
  return Object.entries(groups)
    .map(([verdict, { length }]) => `${length} ${verdict}`)
    .join(', ');
}

function formatFailure({ verdict, conformanceCase: { name, rules }, error }: CaseResult): string {
  const title = verdict === 'different' ? 'differs from the local service' : verdict;
  const { message } = error as Error;
  const isLong = message.length > shownCharacters;
  const shown = isLong ? `${message.slice(0, shownCharacters)} … (${message.length} characters)` : message;
  return `  ${title}: ${name}\n    rules ${rules.join(', ')}\n    ${shown.replaceAll('\n', '\n    ')}`;
}

/** @returns an id below those of all books of this run, or `undefined` when each case may read the whole catalog */
async function findListStart(context: ConformanceContext): Promise<number | undefined> {
  let bytes = 0;
  let after = 0;
  for (let page = 0; page < listPages; page += 1) {
    const response = await context.call('GET', `/books?limit=${pageLength}&after=${after}`);
    const books = expectBooks(response);
    bytes += response.body.length;
    if (bytes > maxListBytes) break;
    if (books.length < pageLength) return undefined;
    after = books.at(-1)?.id ?? after;
  }
  return createMissingId(context);
}
