import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { readEnvironmentCredentials } from './environment-credentials.ts';
import { AttemptHandler } from './http-handler.ts';
import { reduceRequestOverhead } from './request-overhead.ts';
import { Sha256 } from './sha256.ts';
import type { TableLocation } from './table-url.ts';

/**
 * With the time limit of an attempt (http-handler.ts) and the backoff between attempts, an operation fails after about
 * 9 s at most, before the shortest timeout of a function (10 s, serverless.yml) and of API Gateway (29 s), so that a
 * hanging database gives an enveloped 503.
 */
const maxAttempts = 3;

/** Whatever the SDK would otherwise look for in the environment and in configuration files when a function starts. */
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

/**
 * Makes a client for the table's endpoint. Credentials come from the environment.
 *
 * @param location - where the table is
 */
export function createDynamoDBClient({ endpoint, region }: TableLocation): DynamoDBClient {
  const client = new DynamoDBClient({
    ...fixedSettings,
    credentials: readEnvironmentCredentials,
    endpoint,
    region,
    sha256: Sha256,
    maxAttempts,
    requestHandler: new AttemptHandler(),
  });
  reduceRequestOverhead(client);
  return client;
}
