import { Lambda, type LambdaClientConfig } from '@aws-sdk/client-lambda';

/**
 * Compares the account's quota of concurrent instances with the requests that a stage may take at once. A new account has
 * 10, and API Gateway responds with 500 to what Lambda throttles.
 *
 * @param burst - the burst limit of the stage's throttling
 * @returns what is wrong and what to do; `undefined` when the quota is high enough
 */
export async function findQuotaProblem(burst: number, config: LambdaClientConfig): Promise<string | undefined> {
  const { AccountLimit } = await new Lambda(config).getAccountSettings({});
  const quota = AccountLimit?.ConcurrentExecutions ?? burst;
  if (quota >= burst) return undefined;
  return (
    `The account may run ${quota} function instances at a time, and this stage's throttling allows ${burst} requests at ` +
    'once: beyond the quota, requests fail. Raise "Concurrent executions" of AWS Lambda in Service Quotas.'
  );
}
