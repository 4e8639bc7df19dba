/** `npm run smoke -- --stage S`: the conformance suite against a deployed stage, whose URL and password it finds. */

import { parseArgs } from 'node:util';
import { testService } from '../conformance/test-service.ts';
import { findDeployedStage, StageError } from './deployed-stage.ts';

const usage = `Usage: npm run smoke -- --stage STAGE [--region REGION] [options]

Runs the conformance suite against a deployed stage, with the address and the password that its stack has.
Needs AWS credentials that may read the stack and its credentials secret (docs/operations.md).
Options: --base-url and --host-header, for a stage that is reached by another address, such as an emulator's, and
--without, as in \`npm run conformance\`.`;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) return 2;
  const { stage, region, 'base-url': baseUrl, 'host-header': hostHeader, without } = options;
  if (region !== undefined) process.env.AWS_REGION = region;
  try {
    const deployed = await findDeployedStage(stage);
    console.log(`Stage ${stage} at ${baseUrl ?? deployed.baseUrl}`);
    return await testService({ ...deployed, ...(baseUrl !== undefined && { baseUrl }), hostHeader, without });
  } catch (error) {
    if (!(error instanceof StageError)) throw error;
    console.error(error.message);
    return 1;
  }
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        stage: { type: 'string' },
        region: { type: 'string' },
        'base-url': { type: 'string' },
        'host-header': { type: 'string' },
        without: { type: 'string', multiple: true },
      },
    });
    if (values.stage === undefined) throw new Error('--stage is needed');
    return { ...values, stage: values.stage };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return undefined;
  }
}
