import type { Operation } from './description.ts';

/** Whether a request is as described; `unknown` where JSON Schema cannot say. */
export type Verdict = 'yes' | 'no' | 'unknown';

/** Tells whether a value is as a schema says. */
type Fits = (schema: object, value: unknown) => boolean;

/** Like the service: a BOM is no JSON, and neither is what is no UTF-8. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const unsignedInteger = /^(?:0|[1-9][0-9]*)$/;

/** A number in JSON that JavaScript might have rounded: with a fraction or an exponent. */
const roundable = /[0-9][.eE]/;

/** Objects and arrays in a body, above which they may lie within each other too deep to be read. */
const maxContainers = 1000;

/** Compares the query of a request with the description. */
export function fitsQuery({ parameters }: Operation, path: string, fits: Fits): Verdict {
  const query = new URLSearchParams(path.split('?')[1] ?? '');
  for (const { name, schema } of parameters.filter((parameter) => parameter.in === 'query')) {
    const values = query.getAll(name);
    // Which one counts is not said.
    if (values.length > 1) return 'unknown';
    const [text] = values;
    if (text !== undefined && !(unsignedInteger.test(text) && fits(schema, Number(text)))) return 'no';
  }
  return 'yes';
}

/** Compares the headers of a request with the description. */
export function fitsHeaders(
  { parameters }: Operation,
  headers: Readonly<Record<string, string | readonly string[]>>,
  fits: Fits,
): Verdict {
  const sent = Object.entries(headers);
  for (const { name, schema } of parameters.filter((parameter) => parameter.in === 'header')) {
    const values = sent
      .filter(([key]) => key.toLowerCase() === name.toLowerCase())
      .flatMap(([, value]) => value);
    // HTTP joins the values of a header that is sent several times, and drops white space around each.
    const text = values.map((value) => value.replace(/^[ \t]+|[ \t]+$/g, '')).join(', ');
    if (values.length > 0 && !fits(schema, text)) return 'no';
  }
  return 'yes';
}

/** Compares the body of a request with the description. */
export function fitsBody({ bodySchema }: Operation, body: string | Buffer | undefined, fits: Fits): Verdict {
  if (bodySchema === undefined) return 'yes';
  try {
    const text = typeof body === 'string' ? body : utf8.decode(body);
    const value: unknown = JSON.parse(text);
    if (!fits(bodySchema, value)) return 'no';
    const containers = text.split(/[[{]/).length - 1;
    const beyondSchema = roundable.test(text) || !isWellFormed(value as object) || containers > maxContainers;
    return beyondSchema ? 'unknown' : 'yes';
  } catch {
    return 'no';
  }
}

function isWellFormed(value: object): boolean {
  return Object.values(value).every((member) => typeof member !== 'string' || member.isWellFormed());
}
