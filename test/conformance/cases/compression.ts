import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { createBook, expectBooks, expectStored, listBooks, listPath, pickBooks } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import { expectEqual, expectTrue } from '../expectation.ts';

const reference = 'specification 1.7; RFC 9110 section 12.5.3';

const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gunzipSync(body),
  deflate: (body) => inflateSync(body),
  br: (body) => brotliDecompressSync(body),
  zstd: (body) => zstdDecompressSync(body),
  identity: (body) => body,
};

/** Content coding: a service need not compress, but what it sends has to be what the client can read. */
export const compressionCases = defineCases('compression', [
  ...['gzip', 'br', 'zstd', 'gzip, deflate, br', 'identity', 'x-unknown', '*;q=0', 'gzip;q=0'].map(
    (accepted): CaseDefinition => ({
      name: `A list for a client that sends Accept-Encoding: ${accepted} is in a coding that it accepts`,
      reference,
      run: async (context) => {
        const books = [await createBook(context, { title: 'é'.repeat(10_000) }), await createBook(context)];
        const answer = await context.call('GET', listPath(context), undefined, {
          Accept: '*/*',
          'Accept-Encoding': accepted,
        });
        const coding = answer.headers['content-encoding'] ?? 'identity';
        const allowed = ['identity', ...accepted.split(', ')];
        expectTrue('Content-Encoding', allowed.includes(coding), allowed.join(' or '), coding);
        const body = decoders[coding]?.(answer.body) ?? answer.body;
        expectEqual('own books in the list', pickBooks(expectBooks({ ...answer, body }), books), books);
      },
    }),
  ),
  {
    name: 'Answers for a client that names no coding are not coded',
    reference,
    run: async (context) => {
      const book = await createBook(context, { title: 'x'.repeat(10_000) });
      await expectStored(context, book);
      expectEqual('the book in the list', pickBooks(await listBooks(context), [book]), [book]);
    },
  },
]);
