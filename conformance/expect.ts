import assert from 'node:assert/strict';
import type { HttpResponse } from './http-client.ts';
import type { Outcome } from './outcomes.ts';

const shownBodyCharacters = 200;

/**
 * Checks everything about a response but its data: the status, the content type, the exact members of the envelope, and
 * its status and message (rules 1.1 to 1.3).
 *
 * @returns the data of the envelope
 */
export function expectOutcome(response: HttpResponse, outcome: Outcome): unknown {
  const envelope = parseBody(response.body);
  const data = (envelope as { readonly data?: unknown } | null)?.data;
  assert.deepEqual(
    { status: response.status, type: response.headers['content-type'], envelope },
    { status: outcome.status, type: 'application/json', envelope: { ...outcome, data } },
    describeRequest(response),
  );
  return data;
}

/** Checks a response together with its data. */
export function expectResponse(response: HttpResponse, outcome: Outcome, data: unknown = null): void {
  assert.deepEqual(expectOutcome(response, outcome), data, `${describeRequest(response)}, data`);
}

function describeRequest({ request: { method, path, body = '' } }: HttpResponse): string {
  const text = body.toString('latin1');
  const shown = text.length > shownBodyCharacters ? `${text.slice(0, shownBodyCharacters)}…` : text;
  return `${method} ${path}${shown && ` with ${shown}`}`;
}

/** Gives the text where a body is no JSON in UTF-8. */
function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    return body.toString();
  }
}
