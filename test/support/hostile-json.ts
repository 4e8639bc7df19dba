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

const invalid = (text: string): HostileValue => ({ text, value: undefined });

const zeros = '0'.repeat(5_000);

/** Numbers at the limits of JavaScript, and in all notations. */
const number: fc.Arbitrary<HostileValue> = fc.oneof(
  fc.maxSafeInteger().map((value) => ({ text: String(value), value })),
  fc.maxSafeInteger().map((value) => ({ text: `${value}.000`, value })),
  fc
    .constantFrom(
      ...'9007199254740992 9007199254740991.4 18446744073709551616 1e400 -1e400 1e-400 1.5'.split(' '),
      ...['1e99999999999999999999', '1e-99999999999999999999', '1'.repeat(5_000), `1.${zeros}1`],
    )
    .map(invalid),
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

const text: fc.Arbitrary<HostileValue> = fc.oneof(
  anyText.map((value) => ({ text: JSON.stringify(value), value })),
  anyText.map((value) => ({ text: escapeAll(value), value })),
  fc.constantFrom('"\\ud800"', '"\\udc00\\ud800"', '"a\\udfffb"').map(invalid), // lone surrogates
);

const nest = (open: string, close: string) => `${open.repeat(2_000)}0${close.repeat(2_000)}`;
const simple = ['null', 'true', 'false', '[]', '{}', '{"toString":1}', '["x"]', '{"__proto__":null}'];
const nested = [nest('[', ']'), nest('{"a":', '}'), nest('[[],', ']')];

const anyValue = fc.oneof(text, text, number, number, fc.constantFrom(...simple, ...nested).map(invalid));

/** Names that could reach a prototype or a method, and names of internal attributes. */
const treacherousNames =
  '__proto__ constructor prototype hasOwnProperty toString valueOf toJSON then length id shard writeToken lastId Title';

const unknownName = fc.oneof(
  fc.constantFrom(...treacherousNames.split(' '), 'title ', 'title\0', ''),
  anyText,
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
    const typed = { arbitrary: fields[name] === 'string' ? text : number, weight: 6 };
    return fc.tuple(fc.constant(name), fc.oneof(typed, anyValue));
  });
  const named = fc.oneof({ arbitrary: known, weight: 2 }, fc.tuple(unknownName, anyValue));
  const member = fc.tuple(named, fc.boolean()).map(([[name, value], escaped]): HostileMember => {
    return { ...value, name, nameText: escaped ? escapeAll(name) : JSON.stringify(name) };
  });
  const space = fc.constantFrom('', ' ', '\n\t\r ', ' '.repeat(1_000));
  return fc.tuple(fc.array(member, { maxLength: 6 }), space).map(([members, between]) => ({
    members,
    text: `{${between}${members.map((m) => `${m.nameText}${between}:${m.text}`).join(`,${between}`)}}`,
  }));
}

function escapeAll(plain: string): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `"${plain.replaceAll(/./gs, escapeUnit)}"`;
}
