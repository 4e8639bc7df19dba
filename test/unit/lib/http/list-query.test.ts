import { expect, test } from 'vitest';
import { linkHeader, readListQuery } from '../../../../lib/http/list-query.ts';
import { outcomes } from '../../../../lib/http/outcomes.ts';

const table = {
  text: { type: 'string', default: '', maxLength: 2 },
  choice: { type: 'string', default: 'a', enum: ['a', 'b'] },
  number: { type: 'integer', default: 0, minimum: 5, maximum: 7 },
  flag: { type: 'boolean', default: true },
} as const;

const read = (queryStringParameters: Record<string, string>) =>
  readListQuery({ queryStringParameters } as never, table);

test('filters have the kinds of their fields, whatever the limits of these', () => {
  const texts = { flag: 'false', number: '-12', choice: 'none', text: ' Émile & co', limit: '9', after: '7' };

  const filter = { text: ' Émile & co', choice: 'none', number: -12, flag: false };
  expect(read(texts)).toEqual({ limit: 9, after: 7, filter });
  expect(read({ flag: 'true', number: '0', q: ' ', text: '' }).filter).toEqual({ q: ' ', number: 0, flag: true });
  expect(read({ flag: '', number: '', q: '' }).filter).toEqual({});
});

test.each([{ limit: '' }, { flag: 'TRUE' }, { flag: '1' }, { flag: 'true ' }, { text: '\ud800' }, { q: '\ud800' }])(
  '%j is invalid input',
  (texts) => {
    expect(() => read(texts as never)).toThrow(expect.objectContaining({ outcome: outcomes.invalidInput }));
  },
);

test('a link has the limit, the last id and the filters, which it encodes', () => {
  expect(linkHeader(2, 17, {})).toEqual({ Link: '<?limit=2&after=17>; rel="next"' });
  expect(linkHeader(2, 17, { text: 'a+b & "c"=é>', number: -1, flag: false })).toEqual({
    Link: '<?limit=2&after=17&text=a%2Bb%20%26%20%22c%22%3D%C3%A9%3E&number=-1&flag=false>; rel="next"',
  });
});
