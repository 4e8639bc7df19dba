import assert from 'node:assert/strict';
import { findOperation } from './contract/description.ts';
import type { HttpResponse } from './http-messages.ts';
import type { Outcome } from './outcomes.ts';

const shownBodyCharacters = 200;

/** Checks that a response is the success of its endpoint in openapi.yaml. @returns its data */
export function expectSuccess(response: HttpResponse): unknown {
  const { method, path } = response.request;
  return expectEnvelope(response, findOperation(method, path)?.success);
}

/** Checks a success together with its data. */
export function expectData(response: HttpResponse, data: unknown): void {
  assert.deepEqual(expectSuccess(response), data, `${describeRequest(response)}, data`);
}

/** Checks that a response is a failure, which has no data. */
export function expectFailure(response: HttpResponse, outcome: Outcome): void {
  assert.equal(expectEnvelope(response, outcome), null, `${describeRequest(response)}, data`);
  const { 'www-authenticate': challenge, 'x-amzn-remapped-www-authenticate': remapped } = response.headers;
  const scheme = response.status === 401 ? 'BookCatalog' : undefined;
  assert.equal(challenge ?? remapped, scheme, `${describeRequest(response)}, the challenge (rule 4.9)`);
}

/** Checks the status, the content type, and the envelope with exactly its members (rules 1.1 to 1.3). @returns its data */
function expectEnvelope(response: HttpResponse, outcome: Outcome | undefined): unknown {
  const envelope = parseBody(response.body);
  const data = (envelope as { readonly data?: unknown } | null)?.data;
  assert.deepEqual(
    { status: response.status, type: response.headers['content-type'], envelope },
    { status: outcome?.status, type: 'application/json', envelope: { ...outcome, data } },
    describeRequest(response),
  );
  return data;
}

function describeRequest({ request: { method, path, body = '' } }: HttpResponse): string {
  const text = body.toString('latin1');
  const shown = text.length > shownBodyCharacters ? `${text.slice(0, shownBodyCharacters)}…` : text;
  return `${method} ${path}${shown && ` with ${shown}`}`;
}

/** @returns the value, or the text of a body that is not JSON in UTF-8 */
function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    return body.toString();
  }
}
