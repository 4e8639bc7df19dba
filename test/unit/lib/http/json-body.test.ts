import { expect, test } from 'vitest';
import { type EncodedBody, readGivenFields } from '../../../../lib/http/json-body.ts';
import { outcomes } from '../../../../lib/http/outcomes.ts';

const table = { a: { type: 'integer', default: 0 }, b: { type: 'string', default: '' } } as const;

const plain = (body: string) => ({ body, isBase64Encoded: false });
const base64 = (body: string) => ({ body: Buffer.from(body).toString('base64'), isBase64Encoded: true });
const read = (encoded: EncodedBody) => readGivenFields(encoded, table, outcomes.invalidRequestPayload);
const noObject = { outcome: outcomes.invalidRequestPayload, reason: 'not a JSON object' };

test('an absent body is not an object; base64 is not read as text, nor text as base64', async () => {
  await expect(read({ body: null, isBase64Encoded: true })).rejects.toMatchObject(noObject);
  await expect(read({ body: null, isBase64Encoded: false })).rejects.toMatchObject(noObject);
  await expect(read(plain(base64('{"a":1}').body))).rejects.toMatchObject(noObject);
  await expect(read({ body: '{"a":1}', isBase64Encoded: true })).rejects.toMatchObject(noObject);
  await expect(read(base64('{"a":1}'))).resolves.toEqual({ a: 1 });
});

test('a byte order mark is not JSON, in base64 either', async () => {
  await expect(read(plain('\ufeff{}'))).rejects.toMatchObject(noObject);
  await expect(read(base64('\ufeff{}'))).rejects.toMatchObject(noObject);
});

test.each([
  ['an array nested deeper than the stack', `{"a":1,"b":"","c":${'['.repeat(1e6)}${']'.repeat(1e6)}}`, true],
  ['quotation marks that end no string', `{"a":1,"b":"${'\\"'.repeat(2_000_000)}`, false],
  ['a string of escaped quotation marks', `{"a":1,"b":"${'\\"'.repeat(2_000_000)}"}`, true],
  ['a string', `{"a":1,"b":"${'x'.repeat(9_900_000)}"}`, true],
  ['an integer', `{"a":1,"c":${'1'.repeat(9_900_000)}}`, true],
  ['opening braces', '{"a":'.repeat(300_000), false],
])('%s takes no time to speak of', async (_name, text, isObject) => {
  const isRead = read(plain(text)).then(
    () => true,
    () => false,
  );

  expect(await isRead).toBe(isObject);
});
