import type { HttpResponse } from '../support/http-client.ts';
import { ExpectationError, expectEqual } from './expectation.ts';
import type { Outcome } from './outcomes.ts';

const shownBodyCharacters = 200;

/**
 * Checks everything about an answer but its data: the status, the content type, the exact keys of the envelope, and
 * its status and message.
 *
 * @param answer - what the service sent
 * @param outcome - the status and message that it should have
 * @returns the data of the envelope
 */
export function expectOutcome(answer: HttpResponse, outcome: Outcome): unknown {
  const subject = describeRequest(answer);
  const envelope = readJson(answer);
  const { data, ...rest } = isObject(envelope) ? envelope : { data: undefined, body: envelope };
  const keys = isObject(envelope) ? Object.keys(envelope).sort() : [];
  const expected = {
    status: outcome.status,
    contentType: 'application/json',
    envelope: { ...outcome },
    keys: ['data', 'message', 'status'],
  };
  const actual = { status: answer.status, contentType: answer.headers['content-type'], envelope: rest, keys };
  expectEqual(subject, actual, expected);
  return data;
}

/**
 * Checks an answer together with its data.
 *
 * @param answer - what the service sent
 * @param outcome - the status and message that it should have
 * @param data - the data that it should have; `null` on errors and on deletion
 */
export function expectAnswer(answer: HttpResponse, outcome: Outcome, data: unknown = null): void {
  expectEqual(`${describeRequest(answer)}, data`, expectOutcome(answer, outcome), data);
}

/**
 * Names the request of an answer for the reader of a failure.
 *
 * @param answer - what the service sent
 */
function describeRequest({ request }: HttpResponse): string {
  const { method, path, body } = request;
  if (body === undefined) return `${method} ${path}`;
  const text = Buffer.isBuffer(body) ? JSON.stringify(body.toString('latin1')) : body;
  const shown = text.length > shownBodyCharacters ? `${text.slice(0, shownBodyCharacters)}…` : text;
  return `${method} ${path} with ${shown}`;
}

/**
 * Reads the body of an answer as JSON.
 *
 * @param answer - what the service sent
 * @param body - its body without content coding, when that differs
 * @throws {ExpectationError} when it is not JSON in UTF-8
 */
function readJson(answer: HttpResponse, body: Buffer = answer.body): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    const actual = { status: answer.status, headers: answer.headers, body: body.toString() };
    throw new ExpectationError(describeRequest(answer), 'a JSON body', actual);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
