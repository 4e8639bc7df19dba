import fc from 'fast-check';
import { anyText } from './any-text.ts';

/** A JSON text that JSON.stringify would not write, with what an exact reader makes of it. */
interface HostileValue {
  readonly text: string;
  /** The string or number that the text stands for exactly; `undefined` for whatever may be no book's field. */
  readonly value: string | number | undefined;
}

/** A member of an object, its name in one of the ways to write it. */
export interface HostileMember extends HostileValue {
  readonly name: string;
  readonly nameText: string;
}

const deepest = 2_000;

const nested = fc
  .tuple(fc.constantFrom(['[', ']'], ['{"a":', '}'], ['[[],', ']']), fc.nat({ max: deepest }))
  .map(([[open = '', close = ''], depth]) => `${open.repeat(depth)}0${close.repeat(depth)}`)
  .filter((text) => text !== '0')
  .map((text): HostileValue => ({ text, value: undefined }));

/** Numbers at the edges of what JavaScript can hold, and in all notations. */
const number = fc.oneof(
  fc.maxSafeInteger().map((value) => ({ text: String(value), value })),
  fc.maxSafeInteger().map((value) => ({ text: `${value}.000`, value })),
  fc.constantFrom(
    ...[
      ['9007199254740991', 2 ** 53 - 1],
      ['-9007199254740991', 1 - 2 ** 53],
      ['9007199254740992', undefined],
      ['9007199254740991.4', undefined],
      ['18446744073709551616', undefined],
      ['1e400', undefined],
      ['-1e400', undefined],
      ['1e-400', undefined],
      ['1E+15', 1e15],
      ['-0', 0],
      ['0e99999999999', 0],
      ['1e99999999999999999999', undefined],
      ['1e-99999999999999999999', undefined],
      ['1.5', undefined],
      [`${'1'.repeat(5_000)}`, undefined],
      [`1.${'0'.repeat(5_000)}`, 1],
      [`1.${'0'.repeat(5_000)}1`, undefined],
      [`1${'0'.repeat(5_000)}e-5000`, 1],
    ].map(([text, value]) => ({ text, value }) as HostileValue),
  ),
);

const text = fc.oneof(
  anyText.map((value) => ({ text: JSON.stringify(value), value })),
  anyText.map((value) => ({ text: `"${escapeAll(value)}"`, value })),
  fc.constantFrom(
    { text: '"\\ud800"', value: undefined },
    { text: '"\\udc00\\ud800"', value: undefined },
    { text: '"a\\udfffb"', value: undefined },
    { text: '"\\ud83d\\udcda"', value: '📚' },
    { text: '"__proto__"', value: '__proto__' },
    { text: '"\\u0000"', value: '\0' },
  ),
);

const other = fc.oneof(
  fc.constantFrom('null', 'true', 'false', '[]', '{}', '{"toString":1}', '["x"]', '{"__proto__":null}'),
  nested.map((value) => value.text),
);

/** Any value: strings, numbers, and what no field may be. */
const anyValue: fc.Arbitrary<HostileValue> = fc.oneof(
  { arbitrary: text, weight: 3 },
  { arbitrary: number, weight: 3 },
  { arbitrary: other.map((otherText) => ({ text: otherText, value: undefined })), weight: 1 },
);

/** Names that reach a prototype or a method in a careless reader, and those of attributes that are not a client's. */
const treacherousNames = [
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  'valueOf',
  'toJSON',
  'then',
  'length',
  'id',
  'shard',
  'writeToken',
  'lastId',
  'Title',
  'title ',
  'title\0',
  '',
];

/**
 * Makes JSON objects with members of any kind, some of them twice or written in escapes.
 *
 * @param fields - the names that matter, with the type of their values; a value of the type is drawn most of the time
 */
export function hostileObject(
  fields: Readonly<Record<string, 'string' | 'number'>>,
): fc.Arbitrary<{ readonly text: string; readonly members: readonly HostileMember[] }> {
  const known = fc.constantFrom(...Object.keys(fields)).chain((name) => {
    const typed = fields[name] === 'string' ? text : number;
    const value = fc.oneof({ arbitrary: typed, weight: 6 }, { arbitrary: anyValue, weight: 1 });
    return fc.tuple(fc.constant(name), value);
  });
  const unknown = fc.tuple(fc.oneof(fc.constantFrom(...treacherousNames), anyText), anyValue);
  const member = fc
    .tuple(fc.oneof({ arbitrary: known, weight: 2 }, { arbitrary: unknown, weight: 1 }), fc.boolean())
    .map(([[name, value], escaped]): HostileMember => {
      return { ...value, name, nameText: escaped ? `"${escapeAll(name)}"` : JSON.stringify(name) };
    });
  const space = fc.constantFrom('', ' ', '\n\t\r ', ' '.repeat(1_000));
  return fc.tuple(fc.array(member, { maxLength: 6 }), space).map(([members, between]) => ({
    members,
    text: `{${between}${members.map((m) => `${m.nameText}${between}:${m.text}`).join(`,${between}`)}}`,
  }));
}

/**
 * What an exact reader takes from an object: of a member that is there twice the last one (RFC 8259 section 4).
 *
 * @param members - the members
 * @param name - the name
 */
export function lastMember(members: readonly HostileMember[], name: string): HostileMember | undefined {
  return members.findLast((member) => member.name === name);
}

function escapeAll(plain: string): string {
  return Array.from({ length: plain.length }, (_, index) => {
    return `\\u${plain.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
