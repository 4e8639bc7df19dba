/** `node serverless/deploy/deployed.ts --stage S` prints the timestamp of the deployed version, if any, for a rollback. */

import { parseArgs } from 'node:util';
import { CloudFormation, CloudFormationServiceException } from '@aws-sdk/client-cloudformation';

const { stage } = parseArgs({ options: { stage: { type: 'string' } } }).values;
if (stage === undefined) {
  console.error('Usage: node serverless/deploy/deployed.ts --stage STAGE');
  process.exit(2);
}
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
