import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { createRequestHandler } from './request-handler.ts';
import { keepSigner, Sha256 } from './signing.ts';

/** Where a table is: endpoint (an origin), region, name. */
export interface TableLocation {
  readonly endpoint: string;
  readonly region: string;
  readonly tableName: string;
}

/** Settings that the SDK would otherwise look for in the environment and in configuration files. */
const fixedSettings = {
  accountIdEndpointMode: 'disabled',
  authSchemePreference: ['sigv4'],
  defaultsMode: 'standard',
  disableClockSkewCorrection: false,
  endpointDiscoveryEnabled: false,
  maxAttempts: 1,
  retryMode: 'standard',
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
} as const satisfies DynamoDBClientConfig;

/** The SDK's middleware for retries. It is replaced and not removed, because the signature's place is relative to it. */
const retryMiddleware = { name: 'retryMiddleware', step: 'finalizeRequest', priority: 'high' } as const;

/** Makes a client that makes one attempt at a request, with the credentials of the environment. */
export function createDynamoDBClient({ endpoint, region }: TableLocation): DynamoDBClient {
  const given = { credentials: fromEnv(), endpoint, region, sha256: Sha256 };
  const client = new DynamoDBClient({ ...fixedSettings, ...given, requestHandler: createRequestHandler() });
  keepSigner(client);
  // With one attempt it retries nothing. It would take a tenth of the SDK's CPU time, and send two headers.
  client.middlewareStack.add((next) => next, { ...retryMiddleware, override: true });
  // Nothing is logged, and the request handler names the service. Composing both would take a tenth of the CPU time
  // of a warm call.
  client.middlewareStack.remove('loggerMiddleware');
  client.middlewareStack.remove('getUserAgentMiddleware');
  // Lambda looks for loops in the headers of requests to services that invoke functions, and the table invokes none.
  client.middlewareStack.remove('recursionDetectionMiddleware');
  return client;
}
