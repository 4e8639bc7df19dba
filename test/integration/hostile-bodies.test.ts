import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emma } from '../support/book-table.ts';
import { useService } from '../support/fixtures.ts';
import { type HostileMember, hostileObject, lastMember } from '../support/hostile-json.ts';
import { settings } from '../support/load-handlers.ts';

/** Most that any body of megabytes may take; a reader with quadratic running time would need minutes. */
const slowestMs = 10_000;

const service = useService();

const inBase64 = (body: string | Uint8Array) => ({
  body: Buffer.from(body).toString('base64'),
  isBase64Encoded: true,
});
const bookObject = hostileObject({ title: 'string', author: 'string', year: 'number' });
const invalidInput = { status: 400, message: 'Invalid input', data: null };

/** What a book is to have of an object's members; `undefined` when one of them is of the wrong type. */
function readFields(members: readonly HostileMember[]): Partial<typeof emma> | undefined {
  const types = { title: 'string', author: 'string', year: 'number' };
  const given = Object.entries(types).flatMap(([name, type]) => {
    const member = lastMember(members, name);
    return member === undefined ? [] : [{ name, type, value: member.value }];
  });
  if (given.some(({ type, value }) => typeof value !== type)) return undefined;
  return Object.fromEntries(given.map(({ name, value }) => [name, value]));
}

test('a body that is JSON, with whatever JSON allows in it, makes and changes exactly the book that it says, or none', async () => {
  let book = await service.table.repository.create(emma);
  const path = `/book/${book.id}`;
  await fc.assert(
    fc.asyncProperty(bookObject, async ({ text, members }) => {
      const fields = readFields(members);
      book = { ...book, ...fields };

      const created = await service.send('POST', '/book', inBase64(text));
      const updated = await service.send('PUT', path, inBase64(text));

      expect(await service.table.repository.get(book.id)).toEqual(book);
      if (fields === undefined) {
        expect([created.envelope, updated.envelope]).toEqual([invalidInput, invalidInput]);
        return;
      }
      const { id } = created.envelope.data as { id: number };
      const expected = { id, title: '', author: '', year: 0, ...fields };
      expect(created.envelope).toEqual({ status: 201, message: 'Book created successfully', data: expected });
      expect(await service.table.repository.get(id)).toEqual(expected);
      expect(updated.envelope).toEqual({ status: 200, message: 'Book updated successfully', data: book });
    }),
    { numRuns: 300 },
  );
});

test('a body that is JSON logs in exactly with the one pair of credentials', async () => {
  const right = { username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD };
  const login = fc
    .tuple(hostileObject({ username: 'string', password: 'string' }), fc.subarray(Object.entries(right)))
    .map(([{ members }, rightOnes]) => [
      ...members.filter(({ name }) => !rightOnes.some(([rightName]) => rightName === name)),
      ...rightOnes.map(([name, value]) => ({
        name,
        nameText: JSON.stringify(name),
        text: JSON.stringify(value),
        value,
      })),
    ]);

  await fc.assert(
    fc.asyncProperty(login, async (members) => {
      const [username, password] = ['username', 'password'].map((name) => lastMember(members, name));
      const readable = [username, password].every((member) => !member || typeof member.value === 'string');
      const matches = username?.value === right.username && password?.value === right.password;
      const text = `{${members.map((member) => `${member.nameText}:${member.text}`).join()}}`;

      const { status } = await service.call('POST', '/token', inBase64(text));

      expect(status).toBe(readable ? (matches ? 200 : 401) : 400);
    }),
    { numRuns: 300 },
  );
});

test('bytes that are almost JSON are refused, or read as what they say, and never a server error', async () => {
  const { id } = await service.table.repository.create(emma);
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
    ['PUT', `/book/${id}`],
    ['PUT', '/book/999999'],
  );

  await fc.assert(
    fc.asyncProperty(almostJson, route, async (bytes, [method = '', path = '']) => {
      const { status, headers, envelope } = await service.send(method, path, inBase64(bytes));

      expect([200, 201, 400, 401, 404]).toContain(status);
      expect(Object.keys(envelope)).toEqual(['status', 'message', 'data']);
      expect(envelope.status).toBe(status);
      expect(headers).toMatchObject({ 'Content-Type': 'application/json' });
    }),
    { numRuns: 300 },
  );
});

const count = 300_000;
const megabytes = 5 * 1024 * 1024;

test.each([
  ['the same member again and again', `{${'"year":1,'.repeat(count)}"year":2}`, 201],
  ['numbers as names', `{${Array.from({ length: count }, (_, index) => `"${index * 7}":0`).join()}}`, 201],
  ['a year of as many digits', `{"year":${'9'.repeat(megabytes)}}`, 400],
  ['a year of zeros with a digit after them', `{"year":1.${'0'.repeat(megabytes)}1}`, 400],
  ['an exponent of as many digits', `{"year":1e${'9'.repeat(megabytes)}}`, 400],
  ['fractions of zeros in an array', `{"a":[${'1.000000000000000000,'.repeat(count)}1]}`, 201],
  ['escapes', `{"a":"${'\\u0041'.repeat(count)}"}`, 201],
  ['spaces', `{${' '.repeat(megabytes)}}`, 201],
  ['opening braces', '{"a":'.repeat(count), 400],
  ['a string without end', `{"a":"${'x'.repeat(megabytes)}`, 400],
])('a body of megabytes of %s has its response in time', async (_how, body, status) => {
  const startedAt = performance.now();

  expect((await service.send('POST', '/book', inBase64(body))).status).toBe(status);
  expect(performance.now() - startedAt).toBeLessThan(slowestMs);
});
