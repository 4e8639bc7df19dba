import { brotliDecompressSync, gunzipSync } from 'node:zlib';

const decoders: Readonly<Record<string, ((body: Buffer) => Buffer) | undefined>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
};

/** Undoes the content coding of a body. One without a coding, or with an unknown one, stays as it is. */
export function decodeBody(body: Buffer, coding = 'identity'): Buffer {
  return decoders[coding]?.(body) ?? body;
}
