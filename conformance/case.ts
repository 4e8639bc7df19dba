import type { ConformanceContext } from './context.ts';
import type { HttpResponse } from './http-client.ts';

/** Further requirements of a case. */
interface CaseOptions {
  /** It needs the service's SECRET_TOKEN. */
  readonly needsSecret?: boolean;
  /** It reads the whole list. */
  readonly readsWholeList?: boolean;
  /** Its question about API Gateway, which decides the outcome. */
  readonly gatewayQuestion?: string | undefined;
}

/** One situation and its outcome in every deployment. Cases are independent of each other. */
export interface ConformanceCase extends CaseOptions {
  /** Situation and outcome in a sentence, unique in the suite. */
  readonly name: string;
  /** The numbers of its rules in docs/specification.md. */
  readonly rules: readonly string[];
  readonly group: string;
  /** Runs the case, adds what it received to `responses`, deletes its books, and throws when the outcome is another. */
  run(context: ConformanceContext, responses?: HttpResponse[]): Promise<void>;
}

type Run = (context: ConformanceContext) => Promise<unknown>;

/** Adds a case; `rules` are numbers separated by commas. */
type Test = (rules: string, name: string, ...rest: [run: Run] | [options: CaseOptions, run: Run]) => void;

/**
 * Makes the cases of one group.
 *
 * @param group - the name with which they can be skipped
 * @param define - receives the function that adds a case
 */
export function defineCases(group: string, define: (test: Test) => void): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  define((rules, name, ...rest) => {
    const [run, options] = rest.length === 1 ? rest : [rest[1], rest[0]];
    const runAndCleanUp = async (context: ConformanceContext, responses?: HttpResponse[]) => {
      const fork = context.fork(responses);
      try {
        await run(fork);
      } finally {
        await fork.cleanUp();
      }
    };
    cases.push({ ...options, name, rules: rules.split(', '), group, run: runAndCleanUp });
  });
  return cases;
}
