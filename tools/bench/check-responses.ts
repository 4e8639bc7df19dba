import { buffer } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { decodeToken } from '../../conformance/forge-token.ts';
import type { LambdaInstance } from '../runtime/lambda-instance.ts';
import { toHttpResponse } from '../runtime/runtime-api.ts';
import { createEvent, type EndpointCall, type EventOverrides } from './calls.ts';
import type { Candidate } from './candidates.ts';

/** A request that succeeds, and others. */
function variationsOf({ name, resource, body }: EndpointCall): EventOverrides[] {
  const variations: EventOverrides[] = [{}];
  if (resource !== '/token') {
    variations.push({ headers: { Authorization: '' } }, { headers: { Authorization: 'no.valid.token' } });
  }
  if (body !== undefined) variations.push({ text: '{"title":' }, { text: '{"title":1,"username":1}' });
  if (resource === '/book/{id}') variations.push({ path: '/book/x' });
  if (name === 'get-book') variations.push({ path: '/book/2' });
  return variations;
}

/** Throws unless all candidates but the no-op give the same responses, so that they do the same work. */
export async function checkResponses(
  endpoint: EndpointCall,
  candidates: readonly Candidate[],
): Promise<void> {
  let expected: unknown[] | undefined;
  for (const candidate of candidates.filter(({ name }) => name !== 'no-op')) {
    const instance = await candidate.start();
    const responses = [];
    for (const overrides of variationsOf(endpoint)) {
      responses.push(await ask(instance, createEvent(endpoint, overrides)));
    }
    await instance.stop();
    expected ??= responses;
    if (!isDeepStrictEqual(responses, expected)) {
      const [theirs, ours] = [JSON.stringify(responses), JSON.stringify(expected)];
      throw new Error(`${endpoint.name}: ${candidate.name} responds ${theirs}, ours ${ours}`);
    }
  }
}

async function ask(instance: LambdaInstance, event: unknown) {
  const { statusCode, body } = await toHttpResponse(await instance.api.invoke(event));
  const envelope = JSON.parse((await buffer(body)).toString());
  // Tokens differ in the second of their issue.
  if (envelope.data?.token) {
    const { header, claims } = decodeToken(envelope.data.token);
    envelope.data.token = { header, claims: Object.keys(claims as object) };
  }
  return { statusCode, envelope };
}
