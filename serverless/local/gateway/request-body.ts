import type { IncomingMessage } from 'node:http';

/** "Quotas for configuring and running a REST API in API Gateway". */
const maxBodyBytes = 10 * 1024 * 1024;

/**
 * Reads a body to its end, since many clients read no response before they have sent everything.
 *
 * @returns the body, or `undefined` when it is too large
 * @throws when the client disconnects
 */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size <= maxBodyBytes ? Buffer.concat(chunks) : undefined;
}
