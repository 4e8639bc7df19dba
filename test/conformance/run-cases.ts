import type { ConformanceCase } from './case.ts';
import type { ConformanceContext, Exchange } from './context.ts';
import { ExpectationError, showValue } from './expectation.ts';
import { workInParallel } from './in-parallel.ts';

const casesAtOnce = 8;

/** Logins go one at a time anyway; the others send many requests at once or fetch large lists. */
const groupsOneAtATime: ReadonlySet<string> = new Set(['token', 'list-books', 'concurrency']);

/** How a run ended. */
export interface RunResult {
  readonly passed: number;
  readonly failed: number;
  /** How often API Gateway did something else than the local service, where that is no failure. */
  readonly differing: number;
  /** What was asked about API Gateway, and the responses. */
  readonly gatewayCases: readonly GatewayCase[];
}

/** A case that asks something about API Gateway, and what it saw. */
export interface GatewayCase {
  readonly conformanceCase: ConformanceCase;
  readonly passed: boolean;
  readonly exchanges: readonly Exchange[];
}

/** How to run cases. */
export interface RunOptions {
  /** Takes each line. */
  readonly print: (line: string) => void;
  /** Stops the run before the next case. */
  readonly signal: AbortSignal;
  /** Whether a case that asks something about API Gateway may have another outcome. */
  readonly toleratesGateway: boolean;
}

/**
 * Runs cases group by group and prints one line per group, and each failed case.
 *
 * @param cases - the cases to run
 * @param context - made for the service to test
 * @param options - how to run them
 */
export async function runCases(
  cases: readonly ConformanceCase[],
  context: ConformanceContext,
  { print, signal, toleratesGateway }: RunOptions,
): Promise<RunResult> {
  let passed = 0;
  let failed = 0;
  let differing = 0;
  const gatewayCases: GatewayCase[] = [];
  for (const [group, members] of Map.groupBy(cases, (conformanceCase) => conformanceCase.group)) {
    if (signal.aborted) break;
    const width = groupsOneAtATime.has(group) ? 1 : casesAtOnce;
    const startedAt = performance.now();
    const outcomes = await workInParallel(members, width, (conformanceCase) =>
      signal.aborted ? Promise.resolve({ exchanges: [] }) : runCase(conformanceCase, context),
    );
    if (signal.aborted) break;
    const failures: string[] = [];
    const differences: string[] = [];
    members.forEach((conformanceCase, index) => {
      const { error, exchanges = [] } = outcomes[index] ?? {};
      const { gatewayQuestion } = conformanceCase;
      if (gatewayQuestion !== undefined) {
        gatewayCases.push({ conformanceCase, passed: error === undefined, exchanges });
      }
      if (error === undefined) return;
      const differs = toleratesGateway && gatewayQuestion !== undefined;
      if (differs) differences.push(formatFailure('differs from the local service', conformanceCase, error));
      else failures.push(formatFailure('FAILED', conformanceCase, error));
    });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const succeeded = members.length - failures.length - differences.length;
    const counts = [
      `${succeeded} passed`,
      ...(differences.length > 0 ? [`${differences.length} different`] : []),
      ...(failures.length > 0 ? [`${failures.length} FAILED`] : []),
    ];
    print(`${group}: ${counts.join(', ')} (${seconds} s)`);
    for (const line of [...differences, ...failures]) print(line);
    passed += succeeded;
    failed += failures.length;
    differing += differences.length;
  }
  return { passed, failed, differing, gatewayCases };
}

interface CaseOutcome {
  readonly error?: Error;
  readonly exchanges: readonly Exchange[];
}

async function runCase(conformanceCase: ConformanceCase, context: ConformanceContext): Promise<CaseOutcome> {
  const exchanges: Exchange[] = [];
  try {
    await conformanceCase.run(context, (exchange) => {
      if (conformanceCase.gatewayQuestion !== undefined) exchanges.push(exchange);
    });
    return { exchanges };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)), exchanges };
  }
}

function formatFailure(verdict: string, { name, reference }: ConformanceCase, error: Error): string {
  const lines = [`  ${verdict}: ${name}`, `    reference: ${reference}`];
  if (error instanceof ExpectationError) {
    lines.push(`    looked at: ${error.subject}`);
    lines.push(`    expected:  ${showValue(error.expected)}`);
    lines.push(`    got:       ${showValue(error.actual)}`);
  } else {
    lines.push(`    error:     ${error.name === 'ConnectionError' ? error.message : error.stack}`);
  }
  return lines.join('\n');
}
