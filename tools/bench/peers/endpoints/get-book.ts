import { answer, bookNotFound } from '../answers.ts';
import type { PeerEndpoint } from '../endpoint.ts';
import { readBook } from '../read-book.ts';
import { parseId } from '../table.ts';

export const endpoint: PeerEndpoint = {
  method: 'GET',
  path: '/book/:id',
  async handle({ id: text }) {
    const id = parseId(text);
    const book = id && (await readBook(id));
    return book ? answer(200, 'Book retrieved successfully', book) : bookNotFound;
  },
};
