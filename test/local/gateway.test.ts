import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from '../support/http-client.ts';
import { exchangeRaw } from '../support/raw-http.ts';
import { authorize, createDataFolder, LocalService } from './local-service.ts';

const notFound = { status: 404, message: 'Not found', data: null };
const badRequest = { status: 400, message: 'Bad request', data: null };

let service: LocalService;
let dataFolder: string;

beforeAll(async () => {
  dataFolder = await createDataFolder();
  service = await LocalService.start({ DB_PATH: dataFolder, LOG_FORMAT: 'json' });
});

afterAll(async () => {
  await service.stop();
  await rm(dataFolder, { recursive: true, force: true });
});

describe('what the local server answers by itself is in the envelope', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/nowhere'],
    ['POST', '/nowhere'],
    ['DELETE', '/books'],
    ['PATCH', '/book/1'],
    ['OPTIONS', '/books'],
  ])('%s %s, which no function is there for, is 404', async (method, path) => {
    const answer = await request(service.baseUrl + path, {
      method,
      headers: { Origin: 'http://elsewhere.test' },
    });

    expect(answer).toMatchObject({ status: 404, headers: { 'content-type': 'application/json' } });
    expect(answer.envelope).toEqual(notFound);
  });

  test('HEAD on a path of GET is 404', async () => {
    const { status } = await fetch(`${service.baseUrl}/books`, { method: 'HEAD' });

    expect(status).toBe(404);
  });

  test('a body that is not JSON, sent to an unknown path, is 404', async () => {
    const answer = await request(`${service.baseUrl}/nowhere`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{',
    });

    expect(answer.envelope).toEqual(notFound);
  });

  test('a malformed percent-encoding is 400', async () => {
    const answer = await sendRaw('GET /book/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');

    expect(answer).toEqual(badRequest);
  });

  test('a body of more than 10 MB is 413', async () => {
    const answer = await request(`${service.baseUrl}/book`, {
      method: 'POST',
      headers: await authorize(service.baseUrl),
      body: 'x'.repeat(10 * 1024 * 1024 + 1),
    });

    expect(answer.envelope).toEqual({ status: 413, message: 'Payload too large', data: null });
  });

  test.each([
    ['a request line that is no HTTP', 'NONSENSE\r\n\r\n'],
    ['a malformed header', 'GET /books HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n'],
    ['headers of 100 KB', `GET /books HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`],
    [
      'a body length given twice over',
      'POST /book HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a malformed chunk', 'POST /token HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
  ])('%s is 400', async (_situation, text) => {
    expect(await sendRaw(text)).toEqual(badRequest);
  });

  test('CONNECT is 404', async () => {
    expect(await sendRaw('CONNECT elsewhere.test:443 HTTP/1.1\r\nHost: x\r\n\r\n')).toEqual(notFound);
  });
});

describe('the local server adds nothing of its own to what a function answers', () => {
  test('there is no CORS header for any origin', async () => {
    const { headers } = await fetch(`${service.baseUrl}/books`, {
      headers: { Origin: 'http://elsewhere.test' },
    });

    expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  test('a Range header is ignored', async () => {
    const { status } = await fetch(`${service.baseUrl}/books`, {
      headers: { ...(await authorize(service.baseUrl)), Range: 'bytes=0-3' },
    });

    expect(status).toBe(200);
  });

  test('an expectation that nobody knows is ignored', async () => {
    const envelope = await sendRaw(
      'GET /books HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
    );

    expect(envelope).toEqual({ status: 401, message: 'Authorization token required', data: null });
  });
});

test('each request leaves one line of JSON in the output and no secret', async () => {
  const headers = await authorize(service.baseUrl);
  const before = requestLines(service).length;

  await request(`${service.baseUrl}/book`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ title: 'a title that is nobody elses business' }),
  });

  const lines = requestLines(service).slice(before);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ level: 'INFO', route: 'POST /book', status: 201 });
  expect(service.output).not.toContain(headers.Authorization);
  expect(service.output).not.toContain('nobody elses business');
});

function requestLines({ output }: LocalService): Record<string, unknown>[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ message }) => message === 'request');
}

/** Sends bytes as they are and reads the envelope of what comes back. */
async function sendRaw(text: string): Promise<unknown> {
  const { answers } = await exchangeRaw(service.port, text);
  expect(answers).toHaveLength(1);
  const [{ status, headers, body } = { status: 0, headers: new Map(), body: '' }] = answers;
  expect(headers.get('content-type')).toBe('application/json');
  expect(JSON.parse(body)).toMatchObject({ status });
  return JSON.parse(body);
}
