import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transform } from 'node:stream';
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib';

/** What compressing a whole list takes and gives. */
export interface CodingResult {
  readonly coding: string;
  readonly level: number;
  readonly cpuMs: number;
  readonly bytes: number;
}

const codings: Readonly<Record<string, { levels: readonly number[]; create(level: number): Transform }>> = {
  gzip: { levels: [1, 2, 3, 4, 5, 6], create: (level) => createGzip({ level }) },
  br: {
    levels: [1, 2, 3, 4, 5],
    create: (quality) => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
  },
  zstd: {
    levels: [1, 2, 3, 4, 5, 6],
    create: (level) => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: level } }),
  },
};

const bookCount = 100_000;
const booksPerPiece = 2_500;
const times = 3;

/**
 * Compresses a list of 100,000 books, in pieces as the list function does, at several levels of each content coding.
 * Titles and authors are words from the documentation of the installed packages, so that the text is a language's.
 */
export async function sweepContentCodings(): Promise<CodingResult[]> {
  const pieces = makePieces(await readWords());
  const results: CodingResult[] = [];
  for (const [coding, { levels, create }] of Object.entries(codings)) {
    for (const level of levels) {
      const runs: Pick<CodingResult, 'cpuMs' | 'bytes'>[] = [];
      for (let time = 0; time < times; time += 1) runs.push(await compress(pieces, create(level)));
      const [fastest] = runs.sort((a, b) => a.cpuMs - b.cpuMs);
      if (fastest) results.push({ coding, level, ...fastest });
    }
  }
  return results;
}

async function compress(pieces: readonly Buffer[], encoder: Transform) {
  const before = process.cpuUsage();
  const reading = sumBytes(encoder);
  for (const piece of pieces) {
    if (!encoder.write(piece)) await new Promise((resolve) => encoder.once('drain', resolve));
  }
  encoder.end();
  const bytes = await reading;
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, bytes };
}

async function sumBytes(chunks: AsyncIterable<Buffer>): Promise<number> {
  let bytes = 0;
  for await (const chunk of chunks) bytes += chunk.length;
  return bytes;
}

function makePieces(words: readonly string[]): Buffer[] {
  const choose = (count: number) =>
    Array.from({ length: count }, () => words[Math.floor(Math.random() * words.length)]).join(' ');
  const books = Array.from({ length: bookCount }, (_, index) => ({
    id: index + 1,
    title: choose(2 + Math.floor(Math.random() * 5)),
    author: choose(2),
    year: 1800 + Math.floor(Math.random() * 225),
  }));
  return Array.from({ length: bookCount / booksPerPiece }, (_, index) =>
    Buffer.from(JSON.stringify(books.slice(index * booksPerPiece, (index + 1) * booksPerPiece))),
  );
}

async function readWords(): Promise<string[]> {
  const packages = join(import.meta.dirname, '../../node_modules');
  const words: string[] = [];
  for (const name of await readdir(packages)) {
    const text = await readFile(join(packages, name, 'README.md'), 'utf8').catch(() => '');
    words.push(...(text.match(/[A-Za-z]{3,12}/g) ?? []));
  }
  return words;
}
