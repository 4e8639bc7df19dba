import assert from 'node:assert/strict';
import { decodeToken } from '../../conformance/forge-token.ts';
import { createEvent, type EndpointCall, type EventOverrides } from './calls.ts';
import type { Candidate } from './candidates.ts';
import { invoke } from './instance.ts';

/** A request that succeeds, and others. */
function variationsOf({ name, resource, body }: EndpointCall): EventOverrides[] {
  return [
    {},
    ...(resource === '/token' ? [] : [{ authorization: '' }, { authorization: 'no.valid.token' }]),
    ...(body === undefined ? [] : [{ text: '{"title":' }, { text: '{"title":1,"username":1}' }]),
    ...(resource === '/book/{id}' ? [{ path: '/book/x' }] : []),
    ...(name === 'get-book' ? [{ path: '/book/2' }] : []),
  ];
}

/** Throws unless all candidates but the no-op give the same responses, so that they do the same work. */
export async function checkResponses(call: EndpointCall, candidates: readonly Candidate[]): Promise<void> {
  let expected: unknown[] | undefined;
  for (const candidate of candidates.filter(({ name }) => name !== 'no-op')) {
    const instance = await candidate.start();
    const responses = [];
    for (const overrides of variationsOf(call)) {
      const { statusCode, body } = await invoke(instance, createEvent(call, overrides));
      responses.push({ statusCode, envelope: JSON.parse(body, hideTokens) });
    }
    await instance.stop();
    expected ??= responses;
    const labelled = (responses: unknown) => ({ endpoint: call.name, of: candidate.name, responses });
    assert.deepEqual(labelled(responses), labelled(expected));
  }
}

/** Tokens differ in the second of their issue. */
function hideTokens(name: string, value: unknown): unknown {
  if (name !== 'token') return value;
  const { header, claims } = decodeToken(value as string);
  return { header, claims: Object.keys(claims as object) };
}
