import { globSync } from 'node:fs';
import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from '../../vitest.config.ts';

/** The first failing test ends the run of a mutant. So those that find most mutants in the least time come first. */
const files = new Set(
  [
    'test/unit/lib/**/*.test.ts',
    'test/unit/documents/{documents,settings}.test.ts',
    'test/unit/serverless/{local/local-config,deploy/stage-parameters}.test.ts',
    'test/integration/{counter,handlers,idempotent-creates,refusals,table}.test.ts',
    'test/integration/{contended-updates,database-requests,late-attempts}.test.ts',
    'test/conformance/*.test.ts',
    'test/reliability/search/small-worlds*.test.ts',
    // All others, except one about the files of the local engine.
    'test/integration/!(data-folder).test.ts',
  ].flatMap((glob) => globSync(glob).toSorted()),
);

class GivenOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]) {
    const order = [...files];
    const place = ({ moduleId }: TestSpecification) => order.indexOf(relative(process.cwd(), moduleId));
    return specifications.toSorted((one, other) => place(one) - place(other));
  }
}

const { projects: _projects, reporters: _reporters, ...settings } = base.test ?? {};

/** The configuration with which StrykerJS runs tests. */
export default defineConfig({
  test: {
    ...settings,
    reporters: [],
    include: [...files],
    testTimeout: 20_000,
    hookTimeout: 40_000,
    sequence: { sequencer: GivenOrder },
  },
});
