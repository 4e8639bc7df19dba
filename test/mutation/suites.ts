import { globSync } from 'node:fs';

/** Which tests run for the mutants of which files, in this order: those that kill most mutants in the least time are first. */
interface Suite {
  /** Names the file with its results. */
  readonly name: string;
  /** Globs of source files. A file belongs to the first suite that has it. */
  readonly sources: readonly string[];
  /** Globs of test files. */
  readonly tests: readonly string[];
}

const suites: readonly Suite[] = [
  {
    name: 'database',
    sources: ['lib/dynamodb/*.ts'],
    tests: ['test/unit/lib/dynamodb/*.test.ts', 'test/integration/*.test.ts', 'test/conformance/*.test.ts'],
  },
  {
    name: 'service',
    sources: ['lib/**/*.ts', 'handlers/*.ts'],
    tests: [
      'test/unit/lib/**/*.test.ts',
      'test/unit/{documents,local-config,settings,stage-parameters}.test.ts',
      'test/conformance/*.test.ts',
      'test/integration/{handlers,log-redaction}.test.ts',
    ],
  },
];

/** All files with mutants. */
export const sourceFiles = findFiles(['lib/**/*.ts', 'handlers/*.ts']);

/** Divides source files among the suites. */
export function divide(files: readonly string[]) {
  const taken = new Set<string>();
  return suites.flatMap(({ name, sources, tests }) => {
    const own = findFiles(sources).filter((file) => files.includes(file) && !taken.has(file));
    for (const file of own) taken.add(file);
    return own.length === 0 ? [] : [{ name, sources: own, tests: findFiles(tests) }];
  });
}

function findFiles(globs: readonly string[]): readonly string[] {
  return globs.flatMap((glob) => globSync(glob).toSorted());
}
