import { constants } from 'node:os';
import type { ConformanceCase } from './case.ts';
import { inParallel } from './in-parallel.ts';
import { Session, type SessionOptions } from './session.ts';
import { smokeCases } from './smoke-cases.ts';
import { conformanceCases } from './suite.ts';

const casesAtOnce = 8;

/** Logins are throttled; the others send many requests or fetch large lists. */
const groupsOneAtATime: readonly string[] = ['token-endpoint', 'lists', 'concurrency'];

/** What ends a run: Ctrl-C, a stop of the process, and a terminal that is closed. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The messages of node:assert hold what differs, whole books at worst. */
const shownCharacters = 1200;

/** How a case ended. */
interface CaseResult {
  readonly conformanceCase: ConformanceCase;
  readonly verdict: 'passed' | 'expected failure' | 'FAILED';
  /** Why it did not pass. */
  readonly message: string;
}

/** Options of a run. */
export interface SuiteOptions extends SessionOptions {
  /** Groups, and names of cases, to leave out. */
  readonly without?: readonly string[] | undefined;
  /** Whether to run the cases for a stage with the books of others, instead of the suite. */
  readonly isSmokeTest?: boolean;
  /** Whether a case that depends on API Gateway may have another outcome than the local service. */
  readonly toleratesGateway?: boolean;
}

/**
 * Runs the suite against a service, and prints a line per group and each failed case.
 *
 * @returns the exit code: 0 when all cases passed and their books are deleted, otherwise 1, or 128 and the number of the
 * signal that stopped it
 */
export async function runSuite(options: SuiteOptions): Promise<number> {
  const interruption = new AbortController();
  let stopCode: number | undefined;
  const stop = (name: NodeJS.Signals) => {
    ignoreSignals();
    stopCode = 128 + constants.signals[name];
    console.error('Interrupted; deleting the books of this run. Ctrl-C again ends at once.');
    interruption.abort(new Error('interrupted'));
  };
  const ignoreSignals = () => {
    for (const name of stopSignals) process.removeListener(name, stop);
  };
  for (const name of stopSignals) process.on(name, stop);
  const { signal } = interruption;
  const session = new Session({ ...options, signal });
  const allCases = options.isSmokeTest ? smokeCases : conformanceCases;
  const results: CaseResult[] = [];
  try {
    await session.token();
    for (const [group, cases] of Map.groupBy(allCases, ({ group }) => group)) {
      if (!signal.aborted) results.push(...(await runGroup(group, cases, session, options)));
    }
  } catch (error) {
    console.error(`The service at ${options.baseUrl} cannot be tested: ${(error as Error).message}`);
    return 1;
  } finally {
    await session.sharedBook?.catch(() => {});
    await session.sharedCatalog?.cleanUp();
    session.close();
    ignoreSignals();
  }
  const { undeleted } = session;
  if (undeleted.length > 0) console.error(`Books that could not be deleted: ${undeleted.join(', ')}`);
  const {
    passed = [],
    'expected failure': expected = [],
    FAILED = [],
  } = Object.groupBy(results, ({ verdict }) => verdict);
  if (expected.length > 0) console.log(`${expected.length} differ from the local service`);
  if (options.secret === undefined && !options.isSmokeTest)
    console.log('Without the secret, cases that sign tokens are skipped.');
  // `.ci/run` adds these lines up.
  const skipped = allCases.length - results.length;
  console.log(`${passed.length} passed, ${FAILED.length} failed, ${skipped} skipped`);
  return stopCode ?? (undeleted.length + FAILED.length > 0 ? 1 : 0);
}

async function runGroup(
  group: string,
  cases: readonly ConformanceCase[],
  session: Session,
  { secret, without = [], toleratesGateway = false }: SuiteOptions,
): Promise<readonly CaseResult[]> {
  const startedAt = performance.now();
  const runnable = cases.filter(({ name, needsSecret }) => {
    const isLeftOut = without.includes(group) || without.includes(name);
    return !isLeftOut && (!needsSecret || secret !== undefined);
  });
  const width = groupsOneAtATime.includes(group) ? 1 : casesAtOnce;
  const results = await inParallel(runnable.length, width, async (index): Promise<CaseResult> => {
    const conformanceCase = runnable[index] as ConformanceCase;
    try {
      await conformanceCase.run(session);
      return { conformanceCase, verdict: 'passed', message: '' };
    } catch (error) {
      const verdict = toleratesGateway && conformanceCase.dependsOnGateway ? 'expected failure' : 'FAILED';
      return { conformanceCase, verdict, message: (error as Error).message };
    }
  });
  const unsuccessful = results.filter(({ verdict }) => verdict !== 'passed');
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${group}: ${results.length - unsuccessful.length} of ${results.length} passed (${seconds} s)`);
  for (const result of unsuccessful) console.log(formatFailure(result));
  return results;
}

function formatFailure({ verdict, conformanceCase: { name, rules }, message }: CaseResult): string {
  const heading = verdict === 'expected failure' ? 'differs from the local service' : verdict;
  const shown = message.slice(0, shownCharacters).replaceAll('\n', '\n    ');
  return `  ${heading}: ${name}\n    rules ${rules.join(', ')}\n    ${shown}`;
}
