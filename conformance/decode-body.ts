import assert from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';

type Decoder = (body: Buffer, options: { info: true }) => Decoded;

const decoders = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
} as unknown as Readonly<Record<string, Decoder | undefined>>;

/** What is around the data of a gzip frame whose header has no optional fields (RFC 1952 section 2.3). */
const gzipBytes = { header: 10, trailer: 8 };

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
  const bytes = coding === 'gzip' ? measureGzipFrame(body) : decoded.engine.bytesWritten;
  assert.equal(bytes, body.length, `the bytes of the first frame (${coding})`);
  return decoded.buffer;
}

/** Measures the first frame, since gunzip reads on after it. */
function measureGzipFrame(body: Buffer): number {
  const inflate = inflateRawSync as unknown as Decoder;
  const { engine } = inflate(body.subarray(gzipBytes.header), { info: true });
  return gzipBytes.header + engine.bytesWritten + gzipBytes.trailer;
}
