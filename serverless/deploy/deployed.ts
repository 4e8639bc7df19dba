/** `node serverless/deploy/deployed.ts --stage S` prints the timestamp of the deployed version, if any, for a rollback. */

import { parseArgs } from 'node:util';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { findStack, stackNameOf } from './stack.ts';
import { reportStageError, selectTarget } from './target.ts';

const text = { type: 'string' } as const;
const { stage = '', region } = parseArgs({ options: { stage: text, region: text } }).values;
try {
  selectTarget(stage, region);
  const StackName = stackNameOf(stage);
  if ((await findStack(StackName)) !== undefined) {
    const { TemplateBody = '' } = await new CloudFormation().getTemplate({ StackName });
    // The key of the code: `serverless/SERVICE/STAGE/1795252492369-2026-…/x.zip`.
    const timestamp = /"serverless\/[^/]+\/[^/]+\/(\d+)-/.exec(TemplateBody)?.[1];
    if (timestamp !== undefined) console.log(timestamp);
  }
} catch (error) {
  process.exitCode = reportStageError(error as Error);
}
