/** A statement of an IAM policy; those of this repository only allow. */
export interface Statement {
  readonly Sid?: string;
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

/** What somebody asks AWS to do. */
export interface AccessRequest {
  /** Like `iam:CreateRole`. */
  readonly action: string;
  /** An ARN, or `*` for a request that names no resource. */
  readonly resource: string;
  /** The values of condition keys. */
  readonly context?: Readonly<Record<string, string>>;
}

/** A value or a list of values as a list. */
export function toList<Value>(value: Value | readonly Value[]): readonly Value[] {
  return Array.isArray(value) ? value : [value as Value];
}

/** Decides a request as IAM does ("Policy evaluation logic"), for the statements of all policies; none may be a `Deny`. */
export function allows(
  statements: readonly Statement[],
  { action, resource, context = {} }: AccessRequest,
): boolean {
  return statements.some(
    (statement) =>
      toList(statement.Action).includes(action) &&
      toList(statement.Resource).some((pattern) => matches(pattern, resource)) &&
      Object.entries(statement.Condition ?? {}).every(([operator, keys]) =>
        Object.entries(keys).every(([key, expected]) => meets(operator, toList(expected), context[key])),
      ),
  );
}

/** A key that the request does not have fails the condition. */
function meets(operator: string, expected: readonly string[], value: string | undefined): boolean {
  if (value === undefined) return false;
  if (operator === 'StringEquals' || operator === 'ArnEquals') return expected.includes(value);
  if (operator === 'StringLike') return expected.some((pattern) => matches(pattern, value));
  throw new Error(`${operator} is not known here`);
}

function matches(pattern: string, text: string): boolean {
  return new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`).test(text);
}

/** Tells whether some text matches both patterns, in which `*` stands for any text. */
export function overlap(one: string, other: string): boolean {
  if (one === '' && other === '') return true;
  if (one.startsWith('*'))
    return overlap(one.slice(1), other) || (other !== '' && overlap(one, other.slice(1)));
  if (other.startsWith('*')) return overlap(other, one);
  return one !== '' && one[0] === other[0] && overlap(one.slice(1), other.slice(1));
}
