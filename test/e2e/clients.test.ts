import { readFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBookCatalogClient, LoginError } from '../../client/book-catalog-client.ts';
import { type HttpAnswer, HttpClient } from '../conformance/http-client.ts';
import { createDataFolder, LocalService } from './local-service.ts';

/** What `npm start` has without settings, and so the files in client/. */
const credentials = { username: 'admin', password: 'password' };

let dataFolder: string;
let service: LocalService;

beforeAll(async () => {
  dataFolder = await createDataFolder();
  service = await LocalService.start({
    DB_PATH: dataFolder,
    AUTH_USERNAME: credentials.username,
    AUTH_PASSWORD: credentials.password,
  });
});

afterAll(async () => {
  await service.stop();
  await rm(dataFolder, { recursive: true, force: true });
});

describe('the file in client/ for editors', () => {
  test('requests.http holds each operation, and its requests succeed one after the other', async () => {
    const text = await readFile('client/requests.http', 'utf8');

    const sent = await sendRequestsFile(text);

    expect(sent).toEqual([
      'POST /token 200',
      'POST /book 201',
      'GET /books 200',
      'GET /books?limit=10&after=0 200',
      'GET /book/ID 200',
      'GET /book/ID 304',
      'PUT /book/ID 200',
      'DELETE /book/ID 200',
    ]);
  });
});

describe('the TypeScript client', () => {
  test('it logs in by itself and creates, lists, fetches, changes and deletes a book', async () => {
    const client = createBookCatalogClient({ baseUrl: service.baseUrl, ...credentials });

    const created = await client.POST('/book', { body: { title: 'Emma', author: 'Jane Austen' } });
    const id = created.data?.data.id ?? 0;
    const params = { path: { id } };
    const page = await client.GET('/books', { params: { query: { limit: 1, after: id - 1 } } });
    const changed = await client.PUT('/book/{id}', { params, body: { year: 1815 } });
    const fetched = await client.GET('/book/{id}', { params });
    const deleted = await client.DELETE('/book/{id}', { params });
    const missing = await client.GET('/book/{id}', { params });

    const book = { id, title: 'Emma', author: 'Jane Austen', year: 1815 };
    expect(page.data?.data).toEqual([{ ...book, year: 0 }]);
    expect(changed.data?.data).toEqual(book);
    expect(fetched.data?.data).toEqual(book);
    expect(deleted.data).toEqual({ status: 200, message: 'Book deleted successfully', data: null });
    expect(missing.error).toEqual({ status: 404, message: 'Book not found', data: null });
  });

  test('many calls at once share one login', async () => {
    const client = createBookCatalogClient({ baseUrl: service.baseUrl, ...credentials });
    const before = countLogins();

    const answers = await Promise.all(Array.from({ length: 10 }, () => client.GET('/books')));

    expect(answers.map(({ response }) => response.status)).toEqual(Array(10).fill(200));
    expect(countLogins() - before).toBe(1);
  });

  test('wrong credentials reject the call with the message of the service, each time', async () => {
    const client = createBookCatalogClient({ baseUrl: service.baseUrl, ...credentials, password: 'wrong' });

    await expect(client.GET('/books')).rejects.toThrow(new LoginError('Invalid credentials'));
    await expect(client.GET('/books')).rejects.toThrow(new LoginError('Invalid credentials'));
  });
});

function countLogins(): number {
  return service.output.split('"route":"POST /token"').length - 1;
}

/** Sends the requests of a file for editors, one after the other, with the variables filled in. */
async function sendRequestsFile(text: string): Promise<string[]> {
  const client = new HttpClient(service);
  const answers = new Map<string, HttpAnswer>();
  const fill = (line: string) =>
    line
      .replace('{{baseUrl}}', '')
      .replace('{{$guid}}', crypto.randomUUID())
      .replaceAll(/\{\{(\w+)\.response\.headers\.([\w-]+)\}\}/g, (_match, name: string, header: string) =>
        String(answers.get(name)?.headers[header.toLowerCase()]),
      )
      .replaceAll(/\{\{(\w+)\.response\.body\.\$\.data\.(\w+)\}\}/g, (_match, name: string, member: string) =>
        String(JSON.parse(String(answers.get(name)?.body)).data[member]),
      );
  const sent: string[] = [];
  for (const block of text.split(/^### .*\n/m).slice(1)) {
    const name = /^# @name (\w+)$/m.exec(block)?.[1];
    const [head = '', body] = block.replaceAll(/^#.*\n/gm, '').split('\n\n');
    const [start = '', ...lines] = head.trim().split('\n').map(fill);
    const [method = '', path = ''] = start.split(' ');
    const headers = Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]));
    const answer = await client.send({ method, path, headers, ...(body?.trim() && { body }) });
    if (name !== undefined) answers.set(name, answer);
    sent.push(`${method} ${path.replace(/(?<=^\/book\/)\d+$/, 'ID')} ${answer.status}`);
  }
  client.close();
  return sent;
}
