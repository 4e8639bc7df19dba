/**
 * `node serverless/deploy/deployed.ts --stage S`: the timestamp of the version that is deployed, which `serverless rollback
 * --timestamp` takes to return to it; nothing when the stage is not deployed.
 */

import { parseArgs } from 'node:util';
import {
  CloudFormationClient,
  CloudFormationServiceException,
  GetTemplateCommand,
} from '@aws-sdk/client-cloudformation';

const { values } = parseArgs({ options: { stage: { type: 'string' } } });
if (values.stage === undefined) {
  console.error('Usage: node serverless/deploy/deployed.ts --stage STAGE');
  process.exitCode = 2;
} else {
  const timestamp = await findTimestamp(values.stage);
  if (timestamp !== undefined) console.log(timestamp);
}

/** The framework puts the code of each deploy under a key like `serverless/SERVICE/STAGE/1795252492369-2026-…/x.zip`. */
async function findTimestamp(stage: string): Promise<string | undefined> {
  try {
    const { TemplateBody = '' } = await new CloudFormationClient().send(
      new GetTemplateCommand({ StackName: `book-catalog-${stage}` }),
    );
    return /"serverless\/[^/]+\/[^/]+\/(\d+)-/.exec(TemplateBody)?.[1];
  } catch (error) {
    const missing = error instanceof CloudFormationServiceException && error.name === 'ValidationError';
    if (missing) return undefined;
    throw error;
  }
}
