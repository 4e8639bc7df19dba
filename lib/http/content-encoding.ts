import { pipeline, type Transform } from 'node:stream';
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib';
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import preferredEncodings from 'negotiator/lib/encoding.js';
import { headerValues } from './header-values.ts';
import type { StreamedResponse } from './stream-envelope.ts';

/**
 * The content codings on offer, best first, each at the level that docs/benchmarks.md found to be worth its time: a
 * list is sent at 2 MB a second once it is past 6 MB, so that fewer bytes are sooner there.
 */
const encoders: Readonly<Record<string, () => Transform>> = {
  zstd: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
  gzip: () => createGzip({ level: 4 }),
};

const offered = [...Object.keys(encoders), 'identity'];

/**
 * Middleware that compresses a streamed body as `Accept-Encoding` asks (RFC 9110 section 12.5.3). Without the header,
 * or with nothing in it that is on offer, the body stays as it is.
 */
export function encodeContent(): MiddlewareObj<APIGatewayProxyEvent> {
  return {
    after: function compressBody(request) {
      const response = request.response as StreamedResponse;
      response.headers.Vary = 'Accept-Encoding';
      const accepted = headerValues(request.event, 'accept-encoding');
      const acceptEncoding = accepted.length > 0 ? accepted.join() : undefined;
      const [coding = 'identity'] = preferredEncodings(acceptEncoding, offered, offered);
      const encoder = encoders[coding]?.();
      if (encoder === undefined) return;
      response.headers['Content-Encoding'] = coding;
      // Unlike pipe(), it destroys the other end when either fails or leaves.
      response.body = pipeline(response.body, encoder, () => {});
    },
  };
}
