/** `npm run smoke -- --stage S`: tests a deployed stage, whose URL and password it finds. */

import { runSuite } from '../../conformance/run-suite.ts';
import { reportExpectedError, selectTarget } from '../../serverless/deploy/target.ts';
import { endWithAdvice, parseOptions } from '../parse-options.ts';
import { findAddress, findDeployedStage } from './deployed-stage.ts';

/** The stage in which clients would see the books of the whole suite. */
const stageOfClients = 'prod';

/** A new account may have 10 concurrent instances, and other clients need some of them. */
const requestsAtOnce = 4;

const usage = `Usage: npm run smoke -- --stage STAGE [--region REGION] [options]

Tests a deployed stage, with the address and the password that its stack has, a few requests at a time. In prod, it sends a
few requests to each endpoint, with at most 20 books. In other stages, it runs the whole conformance suite, with at most 500.
It deletes its books. Needs AWS credentials that may read the stack and its credentials secret (docs/operations.md). Where
API Gateway itself responds otherwise than the local service, it says so and does not fail.
Options: --whole, to run the whole suite in prod as well; --base-url and --host-header, for a stage that is reached by
another address; and --without, as in \`npm run conformance\`.`;

const text = { type: 'string' } as const;

process.exitCode = await main().catch(reportExpectedError);

async function main(): Promise<number> {
  const { values } = parseOptions(usage, {
    stage: text,
    region: text,
    'base-url': text,
    'host-header': text,
    without: { type: 'string', multiple: true },
    whole: { type: 'boolean', default: false },
  });
  const { stage = endWithAdvice('--stage is needed.'), region, without, 'host-header': hostHeader } = values;
  selectTarget(stage, region);
  const deployed = await findDeployedStage(stage);
  const baseUrl = values['base-url'] ?? (await findAddress(deployed));
  console.log(`Stage ${stage} at ${baseUrl}`);
  const isSmokeTest = stage === stageOfClients && !values.whole;
  return runSuite({ ...deployed, baseUrl, hostHeader, without, isSmokeTest, requestsAtOnce, toleratesGateway: true });
}
