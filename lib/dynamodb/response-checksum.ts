import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** An answer of the database that is not what it sent, or that breaks off. */
class DamagedResponseError extends Error {
  override readonly name = 'DamagedResponseError';
  /** Tells the SDK that the request may be sent again. */
  readonly $retryable = {};

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** What the SDK's HTTP handler gives. */
interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The rest of the SDK takes either. */
  body: Readable | Uint8Array;
}

/**
 * Makes a client read every answer to its end and compare it with the CRC-32 that DynamoDB sends in `x-amz-crc32`, as
 * AWS's older SDKs did; this one does not. An answer that fails either, or that is no JSON, counts as lost, so that the
 * SDK sends the request again. An engine that sends no checksum is believed.
 *
 * @param client - the client, whose commands throw a DamagedResponseError when no attempt got a whole answer
 */
export function verifyResponses(client: DynamoDBClient): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const response = result.response as HttpResponse;
      const body = await readToEnd(response.body as Readable);
      const checksum = response.headers['x-amz-crc32'];
      if (checksum !== undefined && Number(checksum) !== crc32(body)) {
        throw new DamagedResponseError('the answer does not match its checksum');
      }
      if (response.statusCode < 300 && !response.headers['content-type']?.includes('json')) {
        throw new DamagedResponseError('the answer is no JSON');
      }
      response.body = body;
      return result;
    },
    // The lowest priority runs first on the way back, before anything reads the body.
    { name: 'verifyResponse', step: 'deserialize', priority: 'low' },
  );
}

/** Unlike `node:stream/consumers`, which goes through a Blob, in next to no time. */
async function readToEnd(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of body) chunks.push(chunk);
  } catch (cause) {
    throw new DamagedResponseError(`the answer breaks off: ${(cause as Error).message}`, { cause });
  }
  return Buffer.concat(chunks);
}
