import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from '../../vitest.config.ts';

/** The test files of this run, in their order: those that find most faults in the least time come first. */
const files = process.env.MUTATION_TESTS?.split(',') ?? [];

class GivenOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]) {
    const place = ({ moduleId }: TestSpecification) => files.indexOf(relative(process.cwd(), moduleId));
    return specifications.toSorted((one, other) => place(one) - place(other));
  }
}

const { projects: _projects, reporters: _reporters, ...settings } = base.test ?? {};

/** The configuration with which StrykerJS runs tests. */
export default defineConfig({
  test: {
    ...settings,
    reporters: [],
    include: files,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    sequence: { sequencer: GivenOrder },
  },
});
