import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Engine, provideEngine } from '../simulators/engine.ts';
import { type BookTable, createBookTable, emma, listBooks } from '../support/book-table.ts';
import { captureLog } from '../support/captured-log.ts';
import { forgeToken } from '../support/forge-token.ts';
import { type HostileMember, hostileObject, lastMember } from '../support/hostile-json.ts';
import { type Call, loadHandlers, settings } from '../support/load-handlers.ts';

const headers = { Authorization: forgeToken({ secret: settings.SECRET_TOKEN }) };

/** Room for five hundred bodies on a busy machine. */
const propertyTimeoutMs = 90_000;

/** Most that any of these bodies may take; a reader with quadratic running time would need minutes. */
const answerLimitMs = 10_000;

let engine: Engine;
let table: BookTable;
let call: Call;

beforeAll(async () => {
  engine = await provideEngine();
});

afterAll(async () => {
  await engine.stop();
});

beforeEach(async () => {
  captureLog();
  table = await createBookTable(engine.endpoint);
  call = await loadHandlers(table.url);
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const inBase64 = (body: string | Uint8Array) => ({
  headers,
  body: Buffer.from(body).toString('base64'),
  isBase64Encoded: true,
});

const invalidInput = { status: 400, message: 'Invalid input', data: null };

/** What a book is to have of an object's members; `undefined` when one of them is of the wrong type. */
function readFields(members: readonly HostileMember[]): Partial<typeof emma> | undefined {
  const fields: Record<string, unknown> = {};
  for (const [name, type] of [
    ['title', 'string'],
    ['author', 'string'],
    ['year', 'number'],
  ] as const) {
    const member = lastMember(members, name);
    if (member === undefined) continue;
    if (typeof member.value !== type) return undefined;
    fields[name] = member.value;
  }
  return fields;
}

const bookObject = hostileObject({ title: 'string', author: 'string', year: 'number' });

describe('a body that is JSON, with whatever JSON allows in it', () => {
  test('makes exactly the book that it says, or none', { timeout: propertyTimeoutMs }, async () => {
    await fc.assert(
      fc.asyncProperty(bookObject, async ({ text, members }) => {
        const fields = readFields(members);

        const { envelope } = await call('POST', '/book', inBase64(text));

        if (fields === undefined) {
          expect(envelope).toEqual(invalidInput);
          return;
        }
        const { id } = envelope.data as { id: number };
        const book = { id, title: '', author: '', year: 0, ...fields };
        expect(envelope).toEqual({ status: 201, message: 'Book created successfully', data: book });
        expect(await table.repository.get(id)).toEqual(book);
      }),
      { numRuns: 500 },
    );
  });

  test('changes exactly the fields that it says, or none', { timeout: propertyTimeoutMs }, async () => {
    let book = await table.repository.create(emma);

    await fc.assert(
      fc.asyncProperty(bookObject, async ({ text, members }) => {
        const fields = readFields(members);

        const { envelope } = await call('PUT', '/book/1', inBase64(text));

        book = { ...book, ...fields };
        const updated = { status: 200, message: 'Book updated successfully', data: book };
        expect(envelope).toEqual(fields === undefined ? invalidInput : updated);
        expect(await table.repository.get(1)).toEqual(book);
      }),
      { numRuns: 500 },
    );

    expect(await listBooks(table)).toEqual([book]);
  });

  test('logs in exactly with the one pair of credentials', async () => {
    const login = fc
      .tuple(hostileObject({ username: 'string', password: 'string' }), fc.boolean(), fc.boolean())
      .map(([{ members }, rightName, rightPassword]) => {
        const right = [
          ...(rightName ? [memberOf('username', settings.AUTH_USERNAME)] : []),
          ...(rightPassword ? [memberOf('password', settings.AUTH_PASSWORD)] : []),
        ];
        return [...members.filter(({ name }) => !right.some((member) => member.name === name)), ...right];
      });

    await fc.assert(
      fc.asyncProperty(login, async (members) => {
        const given = ['username', 'password'].map((name) => lastMember(members, name));
        const readable = given.every((member) => member === undefined || typeof member.value === 'string');
        const right =
          given[0]?.value === settings.AUTH_USERNAME && given[1]?.value === settings.AUTH_PASSWORD;
        const text = `{${members.map((member) => `${member.nameText}:${member.text}`).join()}}`;

        const { status } = await call('POST', '/token', inBase64(text));

        expect(status).toBe(readable ? (right ? 200 : 401) : 400);
      }),
      { numRuns: 500 },
    );
  });
});

test('bytes that are almost JSON are refused, or read as what they say, and never a server error', async () => {
  await table.repository.create(emma);
  const almostJson = fc
    .tuple(bookObject, fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 3 }))
    .map(([{ text }, patches]) => {
      const bytes = Buffer.from(text);
      for (const [position, byte] of patches) bytes[position % bytes.length] = byte;
      return bytes;
    });
  const route = fc.constantFrom(
    ['POST', '/token'],
    ['POST', '/book'],
    ['PUT', '/book/1'],
    ['PUT', '/book/2'],
  );

  await fc.assert(
    fc.asyncProperty(almostJson, route, async (bytes, [method = '', path = '']) => {
      const { status, headers: sent, envelope } = await call(method, path, inBase64(bytes));

      expect([200, 201, 400, 401, 404]).toContain(status);
      expect(Object.keys(envelope)).toEqual(['status', 'message', 'data']);
      expect(envelope.status).toBe(status);
      expect(sent).toMatchObject({ 'Content-Type': 'application/json' });
    }),
    { numRuns: 500 },
  );
});

describe('a body of megabytes that is made to be slow', () => {
  const count = 300_000;
  const megabytes = 5 * 1024 * 1024;

  test.each([
    ['the same member again and again', `{${'"year":1,'.repeat(count)}"year":2}`, 201],
    ['as many members', `{${Array.from({ length: count }, (_, index) => `"a${index}":0`).join()}}`, 201],
    [
      'members with numbers for names',
      `{${Array.from({ length: count }, (_, i) => `"${i * 7}":0`).join()}}`,
      201,
    ],
    ['a year of as many digits', `{"year":${'9'.repeat(megabytes)}}`, 400],
    ['a year of as many zeros', `{"year":1.${'0'.repeat(megabytes)}}`, 201],
    ['a year of zeros with a digit after them', `{"year":1.${'0'.repeat(megabytes)}1}`, 400],
    ['an exponent of as many digits', `{"year":1e${'9'.repeat(megabytes)}}`, 400],
    ['years of zeros in an array', `{"a":[${'1.000000000000000000,'.repeat(count)}1]}`, 201],
    ['as many escapes', `{"a":"${'\\u0041'.repeat(count)}"}`, 201],
    ['as many backslashes', `{"a":"${'\\\\'.repeat(count)}"}`, 201],
    ['as many spaces', `{${' '.repeat(megabytes)}}`, 201],
    ['opening braces', '{"a":'.repeat(count), 400],
    ['a string without end', `{"a":"${'x'.repeat(megabytes)}`, 400],
  ])('by %s is answered in time', async (_how, body, status) => {
    const startedAt = performance.now();

    const answer = await call('POST', '/book', inBase64(body));

    expect(answer.status).toBe(status);
    expect(performance.now() - startedAt).toBeLessThan(answerLimitMs);
  });
});

function memberOf(name: string, value: string): HostileMember {
  return { name, nameText: JSON.stringify(name), text: JSON.stringify(value), value };
}
