/** `node serverless/deploy/deployed.ts --stage S` prints the timestamp of the deployed version, if any, for a rollback. */

import { CloudFormation, CloudFormationServiceException } from '@aws-sdk/client-cloudformation';
import { endWithAdvice, readCommandLine } from '../command-line.ts';

const usage = 'Usage: node serverless/deploy/deployed.ts --stage STAGE';
const { stage } = readCommandLine(usage, { stage: { type: 'string' } }).values;
if (stage === undefined) endWithAdvice('--stage is needed.');
try {
  const StackName = `book-catalog-${stage}`;
  const { TemplateBody = '' } = await new CloudFormation().getTemplate({ StackName });
  // The key of the code: `serverless/SERVICE/STAGE/1795252492369-2026-…/x.zip`.
  const timestamp = /"serverless\/[^/]+\/[^/]+\/(\d+)-/.exec(TemplateBody)?.[1];
  if (timestamp !== undefined) console.log(timestamp);
} catch (error) {
  const missing = error instanceof CloudFormationServiceException && error.name === 'ValidationError';
  if (!missing) throw error;
}
