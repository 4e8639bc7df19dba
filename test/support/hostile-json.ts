import fc from 'fast-check';
import { anyText } from '../../conformance/any-text.ts';

/** A JSON text that JSON.stringify would not write, with its exact value. */
interface HostileValue {
  readonly text: string;
  /** The exact string or number; `undefined` for a value that is no valid field. */
  readonly value: string | number | undefined;
}

/** A member of an object, with one notation of its name. */
export interface HostileMember extends HostileValue {
  readonly name: string;
  readonly nameText: string;
}

const zeros = '0'.repeat(5_000);

const invalidNumbers = [
  ...'9007199254740992 9007199254740991.4 18446744073709551616 1e400 -1e400 1e-400 1.5'.split(' '),
  ...['1e99999999999999999999', '1e-99999999999999999999', '1'.repeat(5_000), `1.${zeros}1`],
];

/** Numbers at the limits of JavaScript, and in all notations. */
const number = fc.oneof(
  fc.maxSafeInteger().map((value) => ({ text: String(value), value })),
  fc.maxSafeInteger().map((value) => ({ text: `${value}.000`, value })),
  fc.constantFrom(...invalidNumbers).map((text) => ({ text, value: undefined })),
  fc.constantFrom(
    { text: '9007199254740991', value: 2 ** 53 - 1 },
    { text: '-9007199254740991', value: 1 - 2 ** 53 },
    { text: '1E+15', value: 1e15 },
    { text: '-0', value: 0 },
    { text: '0e99999999999', value: 0 },
    { text: `1.${zeros}`, value: 1 },
    { text: `1${zeros}e-5000`, value: 1 },
  ),
);

const loneSurrogate = fc.constantFrom('"\\ud800"', '"\\udc00\\ud800"', '"a\\udfffb"');

const text = fc.oneof(
  anyText.map((value) => ({ text: JSON.stringify(value), value })),
  anyText.map((value) => ({ text: `"${escapeAll(value)}"`, value })),
  fc.record({ text: loneSurrogate, value: fc.constant(undefined) }),
);

const other = fc
  .oneof(
    fc.constantFrom('null', 'true', 'false', '[]', '{}', '{"toString":1}', '["x"]', '{"__proto__":null}'),
    fc
      .tuple(fc.constantFrom(['[', ']'], ['{"a":', '}'], ['[[],', ']']), fc.integer({ min: 1, max: 2_000 }))
      .map(([[open = '', close = ''], depth]) => `${open.repeat(depth)}0${close.repeat(depth)}`),
  )
  .map((value) => ({ text: value, value: undefined }));

const anyValue: fc.Arbitrary<HostileValue> = fc.oneof(
  { arbitrary: text, weight: 3 },
  { arbitrary: number, weight: 3 },
  { arbitrary: other, weight: 1 },
);

/** Names that could reach a prototype or a method, and names of internal attributes. */
const treacherousNames =
  '__proto__ constructor prototype hasOwnProperty toString valueOf toJSON then length id shard writeToken lastId Title'.split(
    ' ',
  );

/**
 * Makes JSON objects with members of any kind, some of them twice or written in escapes.
 *
 * @param fields - the names that matter, with the type of their values; a value of the type is drawn most of the time
 */
export function hostileObject(
  fields: Readonly<Record<string, 'string' | 'number'>>,
): fc.Arbitrary<{ readonly text: string; readonly members: readonly HostileMember[] }> {
  const known = fc.constantFrom(...Object.keys(fields)).chain((name) => {
    const typed: fc.Arbitrary<HostileValue> = fields[name] === 'string' ? text : number;
    const value = fc.oneof({ arbitrary: typed, weight: 6 }, { arbitrary: anyValue, weight: 1 });
    return fc.tuple(fc.constant(name), value);
  });
  const otherName = fc.oneof(fc.constantFrom(...treacherousNames, 'title ', 'title\0', ''), anyText);
  const unknown = fc.tuple(otherName, anyValue);
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

function escapeAll(plain: string): string {
  return plain.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
