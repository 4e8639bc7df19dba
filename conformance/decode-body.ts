import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';

const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Undoes the content coding of a body; one without a coding, or with an unknown one, stays as it is. */
export function decodeBody(body: Buffer, coding = 'identity'): Buffer {
  return decoders[coding]?.(body) ?? body;
}
