/** `node serverless/deploy/deployed.ts --stage S` prints the timestamp of the deployed version, if any, for a rollback. */

import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { endWithAdvice, readCommandLine } from '../command-line.ts';
import { findStack, stackNameOf } from './stack.ts';
import { reportStageError, selectTarget } from './target.ts';

const usage = 'Usage: node serverless/deploy/deployed.ts --stage STAGE [--region REGION]';
const text = { type: 'string' } as const;
const { region, ...options } = readCommandLine(usage, { stage: text, region: text }).values;
const stage = options.stage ?? endWithAdvice('--stage is needed.');
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
