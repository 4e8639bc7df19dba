import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { AttemptHandler } from './http-handler.ts';
import { keepSigner, Sha256 } from './signing.ts';
import type { TableLocation } from './table-url.ts';

/** With the timeout of an attempt and the backoff, an operation fails within about 9 s, before a function's 10 s are over. */
const maxAttempts = 3;

/** Settings that the SDK would otherwise look for in the environment and in configuration files. */
const fixedSettings = {
  accountIdEndpointMode: 'disabled',
  authSchemePreference: ['sigv4'],
  defaultsMode: 'standard',
  disableClockSkewCorrection: false,
  endpointDiscoveryEnabled: false,
  retryMode: 'standard',
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
} as const satisfies DynamoDBClientConfig;

/** Makes a client for the table's endpoint, with the credentials of the environment. */
export function createDynamoDBClient({ endpoint, region }: TableLocation): DynamoDBClient {
  const client = new DynamoDBClient({
    ...fixedSettings,
    credentials: fromEnv(),
    endpoint,
    region,
    sha256: Sha256,
    maxAttempts,
    requestHandler: new AttemptHandler(),
  });
  keepSigner(client);
  // Nothing is logged, and the handler names the service. Composing both takes CPU time (docs/benchmarks.md).
  for (const name of ['loggerMiddleware', 'getUserAgentMiddleware']) client.middlewareStack.remove(name);
  return client;
}
