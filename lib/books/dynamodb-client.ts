import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { verifyResponses } from './response-checksum.ts';
import type { TableLocation } from './table-url.ts';

/** DynamoDB answers in single-digit milliseconds; a connection that takes this long will not be made. */
const connectionTimeoutMs = 300;

/** Long enough for a 1 MB page on a slow line, and for a laptop that has other things to do. */
const requestTimeoutMs = 2_500;

/**
 * With the time limits above, an operation fails after about 9 s at most, before the shortest timeout of a function
 * (10 s, serverless.yml) and of API Gateway (29 s), so that a hanging database gives an enveloped 503.
 */
const maxAttempts = 3;

/**
 * Makes a client for the table's endpoint. Credentials come from the SDK's default chain.
 *
 * @param location - where the table is
 */
export function createDynamoDBClient({ endpoint, region }: TableLocation): DynamoDBClient {
  const client = new DynamoDBClient({
    endpoint,
    region,
    maxAttempts,
    requestHandler: {
      connectionTimeout: connectionTimeoutMs,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
      // The limit above ends with the first bytes of the answer; this one is for a body that stalls.
      socketTimeout: requestTimeoutMs,
    },
  });
  verifyResponses(client);
  return client;
}
