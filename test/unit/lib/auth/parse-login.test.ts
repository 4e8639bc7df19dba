import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loginFields } from '../../../../lib/auth/credentials.ts';
import { type EncodedBody, readFields } from '../../../../lib/http/json-body.ts';
import { anyText } from '../../../support/any-text.ts';

const parseLogin = (encoded: EncodedBody) => readFields(encoded, loginFields);
const parse = (body: string | null) => parseLogin({ body, isBase64Encoded: false });

describe('the body of POST /token', () => {
  test('any two strings are read as they are', () => {
    const text = anyText;
    fc.assert(
      fc.property(text, text, (username, password) => {
        expect(parse(JSON.stringify({ username, password }))).toEqual({ username, password });
      }),
    );
  });

  test('any value that is no string makes the body unreadable, whichever field it is in', () => {
    const noText = fc.jsonValue().filter((value) => typeof value !== 'string');
    fc.assert(
      fc.property(noText, (value) => {
        expect(parse(JSON.stringify({ username: value, password: 'x' }))).toBeUndefined();
        expect(parse(JSON.stringify({ username: 'x', password: value }))).toBeUndefined();
      }),
    );
  });

  test('a missing field is the empty string', () => {
    expect(parse('{}')).toEqual({ username: '', password: '' });
    expect(parse('{"username":"admin"}')).toEqual({ username: 'admin', password: '' });
    expect(parse('{"password":"x"}')).toEqual({ username: '', password: 'x' });
  });

  test('other members are left out, and so are fields inside __proto__', () => {
    expect(parse('{"username":"a","password":"b","otp":1}')).toEqual({ username: 'a', password: 'b' });
    expect(parse('{"__proto__":{"username":"a","password":"b"}}')).toEqual({ username: '', password: '' });
  });

  test.each([
    null,
    '',
    'username=admin',
    '[]',
    '"x"',
    '1',
    'null',
    '{"username":null}',
    '{"password":"\\ud800"}',
  ])('the body %j cannot be read', (body) => {
    expect(parse(body)).toBeUndefined();
  });

  test('a body in base64 is decoded first', () => {
    const body = Buffer.from('{"username":"a","password":"b"}').toString('base64');

    expect(parseLogin({ body, isBase64Encoded: true })).toEqual({ username: 'a', password: 'b' });
  });
});
