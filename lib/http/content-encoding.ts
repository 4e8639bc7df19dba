import { pipeline, type Transform } from 'node:stream';
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import preferredEncodings from 'negotiator/lib/encoding.js';
import { combinedValue } from './header-values.ts';
import type { StreamedResponse } from './stream-envelope.ts';

/** The content codings on offer, best first, each at the level that docs/benchmarks.md found worth its time. */
const encoders: Readonly<Record<string, () => Transform>> = {
  zstd: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
  gzip: () => createGzip({ level: 4 }),
};

const offered = [...Object.keys(encoders), 'identity'];

/** Compresses the body of a response as `Accept-Encoding` asks, if it does (RFC 9110 section 12.5.3). */
export function encodeContent(event: APIGatewayProxyEvent, response: StreamedResponse): StreamedResponse {
  // Clients that send a wildcard have not chosen a coding and may decode none.
  const accepted = combinedValue(event, 'accept-encoding')?.replaceAll('*', 'identity');
  const [coding = 'identity'] = preferredEncodings(accepted, offered, offered);
  const headers = { ...response.headers, Vary: 'Accept-Encoding' };
  const encoder = encoders[coding]?.();
  if (encoder === undefined) return { ...response, headers };
  // Unlike pipe(), it destroys the other end when either fails or leaves.
  const body = pipeline(response.body, encoder, () => {});
  return { ...response, headers: { ...headers, 'Content-Encoding': coding }, body };
}
