/** `node tools/operations/print-version.ts --stage S` prints the timestamp of the deployed version, if any, for a rollback. */

import { parseArgs } from 'node:util';
import { findVersion, stackNameOf } from '../../serverless/deploy/stack.ts';
import { reportExpectedError, selectTarget } from '../../serverless/deploy/target.ts';

const text = { type: 'string' } as const;
const { stage = '', region } = parseArgs({ options: { stage: text, region: text } }).values;
try {
  selectTarget(stage, region);
  const version = await findVersion(stackNameOf(stage));
  if (version !== undefined) console.log(version);
} catch (error) {
  process.exitCode = reportExpectedError(error as Error);
}
