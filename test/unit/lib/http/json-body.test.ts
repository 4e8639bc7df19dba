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
