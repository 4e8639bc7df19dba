/** `npm run smoke -- --stage S`: the conformance suite against a deployed stage, whose URL and password it finds. */

import { writeFileSync } from 'node:fs';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { runSuite } from '../../conformance/run-suite.ts';
import { isTemporary, reportStageError, selectTarget } from '../../serverless/deploy/target.ts';
import { endWithAdvice, inCallersFolder, parseOptions } from '../parse-options.ts';
import { findAddress, findDeployedStage } from './deployed-stage.ts';
import { formatGatewayReport } from './gateway-report.ts';
import { describeInvocations } from './invocation-reports.ts';
import { findUnprotected } from './restored-table.ts';
import { planSmoke } from './smoke-plan.ts';

/** A new account may have 10 concurrent instances, and other clients need some of them. */
const requestsAtOnce = 4;

const usage = `Usage: npm run smoke -- --stage STAGE [--region REGION] [options]

Runs the conformance suite against a deployed stage, with the address and the password that its stack has: a few requests
at a time, on a stage with many books in pages, and with books of its own that it deletes. Needs AWS credentials that may
read the stack and its credentials secret (docs/deployment.md). Where API Gateway itself responds otherwise than the local
service, it says so and does not fail; --report FILE writes down what API Gateway responded with. At the end it prints
cold starts, durations and memory of each function, and what the table lacks, if somebody has switched it off.
Options: --base-url and --host-header, for a stage that is reached by another address, such as an emulator's, and
--without, as in \`npm run conformance\`.`;

const text = { type: 'string' } as const;

process.exitCode = await main().catch(reportStageError);

async function main(): Promise<number> {
  const { values } = parseOptions(usage, {
    stage: text,
    region: text,
    'base-url': text,
    'host-header': text,
    without: { type: 'string', multiple: true },
    report: text,
  });
  const { stage = endWithAdvice('--stage is needed.'), region, without = [], report } = values;
  selectTarget(stage, region);
  const deployed = await findDeployedStage(stage);
  const baseUrl = values['base-url'] ?? (await findAddress(deployed));
  console.log(`Stage ${stage} at ${baseUrl}`);
  const plan = planSmoke(deployed.requestsPerAddress);
  if (plan.requestsPerMinute !== undefined) {
    console.log(`The limit of an address leaves out: ${plan.without.join(', ')}. The others take minutes.`);
  }
  const startedAt = Date.now();
  const { exitCode, gatewayCases } = await runSuite({
    ...deployed,
    baseUrl,
    hostHeader: values['host-header'],
    without: [...without, ...plan.without],
    requestsAtOnce,
    requestsPerMinute: plan.requestsPerMinute,
    toleratesGateway: true,
  });
  if (report !== undefined) {
    writeFileSync(inCallersFolder(report), formatGatewayReport(`Stage ${stage} in AWS`, gatewayCases));
    console.log(`What API Gateway responded with is in ${report}.`);
  }
  await printInvocations(stage, startedAt).catch((error: Error) =>
    console.log(`No reports of Lambda: ${error.message}`),
  );
  // The table of a temporary stage goes with it.
  if (!isTemporary(stage)) {
    await printUnprotected(deployed.table).catch((error: Error) =>
      console.log(`The table was not read: ${error.message}`),
    );
  }
  return exitCode;
}

/** Not a failure, because a release would be rolled back for it. */
async function printUnprotected(table: string): Promise<void> {
  for (const line of await findUnprotected(new DynamoDB(), table)) console.log(line);
}

async function printInvocations(stage: string, since: number): Promise<void> {
  console.log('What Lambda reports, in medians (docs/scaling.md has the memory and cold starts that were measured):');
  for (const line of await describeInvocations(stage, since)) console.log(line);
}
