import assert from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';

const decoders = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
} as unknown as Readonly<Record<string, ((body: Buffer, options: { info: true }) => Decoded) | undefined>>;

/** The result of a decoder with the option `info`, which the types of Node leave out. */
interface Decoded {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

/**
 * Undoes the content coding of a body; one without a coding, or with an unknown one, stays as it is.
 *
 * @throws {AssertionError} when the body goes on after its first frame, as some clients decode no more
 */
export function decodeBody(body: Buffer, coding = 'identity'): Buffer {
  const decoded = decoders[coding]?.(body, { info: true });
  if (decoded === undefined) return body;
  assert.equal(decoded.engine.bytesWritten, body.length, `the bytes of the first frame (${coding})`);
  return decoded.buffer;
}
