/** `node tools/operations/print-deployment.ts --stage S` prints the timestamp of the deployment that runs, if any, for a rollback. */

import { parseArgs } from 'node:util';
import { findDeployment, stackNameOf } from '../../serverless/deploy/stack.ts';
import { reportExpectedError, selectTarget } from '../../serverless/deploy/target.ts';

const text = { type: 'string' } as const;
const { stage = '', region } = parseArgs({ options: { stage: text, region: text } }).values;
try {
  selectTarget(stage, region);
  const timestamp = await findDeployment(stackNameOf(stage));
  if (timestamp !== undefined) console.log(timestamp);
} catch (error) {
  process.exitCode = reportExpectedError(error as Error);
}
