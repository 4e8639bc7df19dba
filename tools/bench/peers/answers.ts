import type { PeerAnswer } from './endpoint.ts';

/** @param data - what the endpoint answers with */
export const answer = (status: number, message: string, data: unknown = null): PeerAnswer => ({
  status,
  message,
  data,
});

export const bookNotFound = answer(404, 'Book not found');
export const invalidInput = answer(400, 'Invalid input');
