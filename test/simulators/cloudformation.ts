import { isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml';

/** What names in a template stand for. */
export interface Values {
  /** Parameters, pseudo parameters and resources. */
  readonly refs: Readonly<Record<string, string>>;
  /** Attributes, each by `LogicalId.Name`. */
  readonly attributes?: Readonly<Record<string, string>>;
  readonly conditions?: Readonly<Record<string, unknown>>;
}

/** Reads a CloudFormation template in YAML and gives its functions their long form. */
export function parseTemplate(text: string): unknown {
  return toLongForm(parseDocument(text, { logLevel: 'silent' }).contents);
}

function toLongForm(node: unknown): unknown {
  const value = isMap(node)
    ? Object.fromEntries(node.items.map((pair) => [String(pair.key), toLongForm(pair.value)]))
    : isSeq(node)
      ? node.items.map(toLongForm)
      : isScalar(node)
        ? node.value
        : node;
  const tag = (node as Node | null)?.tag?.match(/^!(\w+)$/)?.[1];
  if (tag === undefined) return value;
  if (tag === 'Ref' || tag === 'Condition') return { [tag]: value };
  return { [`Fn::${tag}`]: tag === 'GetAtt' ? String(value).split('.') : value };
}

/**
 * Replaces the functions, in their long form, in a part of a template by their results.
 *
 * @throws an Error for an unknown name or function
 */
export function resolveIntrinsics(part: unknown, values: Values): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part))
    return part.map((item) => resolveIntrinsics(item, values)).filter((item) => item !== noValue);
  const [[name = '', argument] = [], ...others] = Object.entries(part);
  if (others.length === 0 && (name === 'Ref' || name.startsWith('Fn::'))) return call(name, argument, values);
  return Object.fromEntries(
    Object.entries(part)
      .map(([key, value]) => [key, resolveIntrinsics(value, values)])
      .filter(([, value]) => value !== noValue),
  );
}

// biome-ignore lint/suspicious/noExplicitAny: each function has arguments of its own
type Argument = any;

const noValue = Symbol('AWS::NoValue');

function call(name: string, argument: Argument, values: Values): unknown {
  const resolve = (part: unknown): Argument => resolveIntrinsics(part, values);
  switch (name) {
    case 'Ref':
      return argument === 'AWS::NoValue' ? noValue : find(values.refs, argument);
    case 'Fn::GetAtt':
      return find(values.attributes, argument.join('.'));
    case 'Fn::Sub': {
      const [text, variables = {}] = [argument].flat();
      const refs = { ...values.attributes, ...values.refs, ...resolve(variables) };
      return text.replaceAll(/\$\{([^}]+)\}/g, (_: string, key: string) => find(refs, key));
    }
    case 'Fn::Join':
      return resolve(argument[1]).join(argument[0]);
    case 'Fn::Select':
      return resolve(argument[1])[argument[0]];
    case 'Fn::Split':
      return resolve(argument[1]).split(argument[0]);
    case 'Fn::If':
      return resolve(argument[holds({ Condition: argument[0] }, values) ? 1 : 2]);
    default:
      throw new Error(`${name} is not known here`);
  }
}

/** Decides a condition of a template, in its long form. */
export function holds(condition: Argument, values: Values): boolean {
  const [[name, argument]] = Object.entries<Argument>(condition) as [[string, Argument]];
  if (name === 'Condition') return holds(find(values.conditions, argument), values);
  if (name === 'Fn::Not') return !holds(argument[0], values);
  if (name === 'Fn::And') return argument.every((each: unknown) => holds(each, values));
  if (name === 'Fn::Equals')
    return resolveIntrinsics(argument[0], values) === resolveIntrinsics(argument[1], values);
  throw new Error(`${name} is not known here`);
}

function find<Value>(values: Readonly<Record<string, Value>> = {}, name: string): Value {
  const value = values[name];
  if (value === undefined) throw new Error(`${name} has no value here`);
  return value;
}
