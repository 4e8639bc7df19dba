import { allows } from './a-book.ts';
import { Catalog } from './catalog.ts';
import type { HttpResponse } from './http-messages.ts';
import type { Session } from './session.ts';

/** Further requirements of a case. */
interface CaseOptions {
  /** What it sends. Where openapi.yaml has a limit that refuses it, there is no such case. */
  readonly values?: object;
  /** It needs the service's SECRET_TOKEN. */
  readonly needsSecret?: boolean;
  /** API Gateway decides its outcome, and may decide otherwise than the local service. */
  readonly dependsOnGateway?: boolean;
}

/** One situation and its outcome in every deployment. Cases are independent of each other. */
export interface ConformanceCase extends CaseOptions {
  /** Situation and outcome in a sentence, unique in the suite. */
  readonly name: string;
  /** The numbers of its rules in docs/specification.md. */
  readonly rules: readonly string[];
  /** The name of its file, with which it can be skipped. */
  readonly group: string;
  /** Runs the case, adds what it received to `responses`, deletes its books, and throws when the outcome is another. */
  run(session: Session, responses?: HttpResponse[]): Promise<void>;
}

type Run = (catalog: Catalog) => Promise<unknown>;

/** Adds a case; `rules` are numbers separated by commas. */
export type Test = (rules: string, name: string, ...rest: [run: Run] | [options: CaseOptions, run: Run]) => void;

/** Collects the cases that the default export of a file in cases/ adds. */
export function collectCases(group: string, addCases: (test: Test) => void): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  addCases((rules, name, ...rest) => {
    const [options, run]: [CaseOptions, Run] = rest.length === 2 ? rest : [{}, rest[0]];
    if (!allows(options.values ?? {})) return;
    const runCase: ConformanceCase['run'] = (...shared) => runAndCleanUp(run, new Catalog(...shared));
    cases.push({ ...options, name, rules: rules.split(', '), group, run: runCase });
  });
  return cases;
}

async function runAndCleanUp(run: Run, catalog: Catalog): Promise<void> {
  try {
    await run(catalog);
  } finally {
    await catalog.cleanUp();
  }
}
