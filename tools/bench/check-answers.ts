import { buffer } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { toHttpResponse } from '../../test/aws/runtime/http-response.ts';
import type { LambdaInstance } from '../../test/aws/runtime/lambda-instance.ts';
import type { InvocationResult } from '../../test/aws/runtime/runtime-api.ts';
import { decodeToken } from '../../test/support/forge-token.ts';
import type { Candidate } from './candidates.ts';
import { createEvent, type EndpointCall, type EventOverrides } from './endpoints.ts';

/** What is asked besides a request that succeeds. */
function requestsOf(endpoint: EndpointCall): EventOverrides[] {
  const requests: EventOverrides[] = [{}];
  if (endpoint.resource !== '/token') {
    requests.push(
      { headers: { Authorization: undefined } },
      { headers: { Authorization: 'no.valid.token' } },
    );
  }
  if (endpoint.body !== undefined) requests.push({ text: '{"title":' }, { text: '{"title":1,"username":1}' });
  if (endpoint.resource === '/book/{id}') requests.push({ path: '/book/x' });
  if (endpoint.name === 'get-book') requests.push({ path: '/book/2' });
  return requests;
}

/**
 * Makes sure that all candidates but the no-op answer alike, so that they do the same work.
 *
 * @param endpoint - the endpoint
 * @param candidates - who serves it, ours first
 * @param databaseUrl - DB_URL
 * @throws an Error that shows both answers when two differ
 */
export async function checkAnswers(
  endpoint: EndpointCall,
  candidates: readonly Candidate[],
  databaseUrl: string,
): Promise<void> {
  let expected: { name: string; answers: unknown[] } | undefined;
  for (const candidate of candidates) {
    if (candidate.name === 'no-op') continue;
    const instance = await candidate.start(databaseUrl);
    try {
      const answers = [];
      for (const overrides of requestsOf(endpoint)) {
        answers.push(await ask(instance, endpoint, overrides));
      }
      expected ??= { name: candidate.name, answers };
      if (!isDeepStrictEqual(answers, expected.answers)) {
        throw new Error(
          `${endpoint.route}: ${candidate.name} answers ${JSON.stringify(answers)}, ` +
            `${expected.name} ${JSON.stringify(expected.answers)}`,
        );
      }
    } finally {
      await instance.stop();
    }
  }
}

async function ask(instance: LambdaInstance, endpoint: EndpointCall, overrides: EventOverrides) {
  const result = await instance.api.invoke(createEvent(endpoint, overrides));
  const { statusCode, headers, multiValueHeaders, body } = await readResponse(result);
  const [contentType] = Object.entries({ ...multiValueHeaders, ...headers })
    .filter(([name]) => name.toLowerCase() === 'content-type')
    .map(([, value]) => String(value).split(';')[0]);
  const envelope = JSON.parse(body);
  // Two tokens differ in the second that they were made in.
  if (envelope.data?.token) {
    const { header, claims } = decodeToken(envelope.data.token);
    envelope.data.token = { header, claims: Object.keys(claims as object) };
  }
  return { statusCode, contentType, envelope };
}

async function readResponse(result: InvocationResult): Promise<APIGatewayProxyResult> {
  if (result.kind === 'response') return result.payload as APIGatewayProxyResult;
  const { body, ...head } = await toHttpResponse(result);
  return { ...head, body: (await buffer(body)).toString() };
}
