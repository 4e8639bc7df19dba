/** The attributes of an item, or the values of an expression's placeholders. */
export type Values = Readonly<Record<string, unknown>>;

/** What the placeholders of a request's expressions stand for. */
export interface Placeholders {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
  readonly ExpressionAttributeValues?: Values | undefined;
}

type Condition = (item: Values, placeholders: Placeholders) => boolean;
type Operand = (item: Values, placeholders: Placeholders) => unknown;

const comparisons: Readonly<Record<string, (left: never, right: never) => boolean>> = {
  '=': (left, right) => left === right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

const compiled = new Map<string, Condition>();

/** Whether a condition holds of an item (Amazon DynamoDB Developer Guide, "Condition expressions"); without one, it does. */
export function holds(expression: string | undefined, item: Values, placeholders: Placeholders): boolean {
  if (expression === undefined) return true;
  const condition = compiled.get(expression) ?? new Parser(expression).parseCondition();
  compiled.set(expression, condition);
  return condition(item, placeholders);
}

/** Makes the item that an update expression makes of another one. All values are those of the item before. */
export function update(expression: string, item: Values, placeholders: Placeholders): Values {
  const result: Record<string, unknown> = { ...item };
  const nameOf = (text: string) => placeholders.ExpressionAttributeNames?.[text] ?? text;
  for (const [, keyword, rest = ''] of expression.matchAll(/(SET|REMOVE|ADD) (.*?)(?= SET | REMOVE | ADD |$)/g)) {
    // A comma inside parentheses separates the arguments of a function.
    for (const action of rest.split(/,(?![^(]*\))/)) {
      const [target = '', value = ''] = action.trim().split(/ = | /, 2);
      const operand = action.slice(action.indexOf(value));
      if (keyword === 'REMOVE') delete result[nameOf(target)];
      else if (keyword === 'SET') result[nameOf(target)] = new Parser(operand).parseOperand()(item, placeholders);
      else result[nameOf(target)] = Number(item[nameOf(target)] ?? 0) + Number(evaluate(value, item, placeholders));
    }
  }
  return result;
}

function evaluate(text: string, item: Values, placeholders: Placeholders): unknown {
  if (text.startsWith(':')) return placeholders.ExpressionAttributeValues?.[text];
  return item[placeholders.ExpressionAttributeNames?.[text] ?? text];
}

/** A parser by recursive descent, for the part of the language that the service uses. It throws at everything else. */
class Parser {
  readonly #tokens: string[];

  constructor(text: string) {
    this.#tokens = text.match(/[#:]?\w+|[<>]=|\S/g) ?? [];
  }

  parseCondition(): Condition {
    const condition = this.#parseOr();
    if (this.#tokens.length > 0) throw new SyntaxError(`"${this.#tokens[0]}" in a condition`);
    return condition;
  }

  parseOperand(): Operand {
    const first = this.#take();
    if (first !== 'if_not_exists') return (...given) => evaluate(first, ...given);
    const [path, other] = this.#takeArguments() as [string, string];
    return (...given) => evaluate(path, ...given) ?? evaluate(other, ...given);
  }

  #parseOr(): Condition {
    const left = this.#parseAnd();
    if (!this.#skip('OR')) return left;
    const right = this.#parseOr();
    return (...given) => left(...given) || right(...given);
  }

  #parseAnd(): Condition {
    const left = this.#parseNot();
    if (!this.#skip('AND')) return left;
    const right = this.#parseAnd();
    return (...given) => left(...given) && right(...given);
  }

  #parseNot(): Condition {
    if (this.#skip('NOT')) {
      const condition = this.#parseNot();
      return (...given) => !condition(...given);
    }
    if (this.#skip('(')) {
      const condition = this.#parseOr();
      this.#expect(')');
      return condition;
    }
    return this.#parseComparison();
  }

  #parseComparison(): Condition {
    const first = this.#take();
    if (/^attribute_(not_)?exists$/.test(first)) {
      const [path = ''] = this.#takeArguments();
      return (...given) => (evaluate(path, ...given) === undefined) === (first === 'attribute_not_exists');
    }
    const operator = this.#take();
    const second = this.#take();
    if (operator === 'BETWEEN') {
      this.#expect('AND');
      const third = this.#take();
      const isBetween = [compare(second, '<=', first), compare(first, '<=', third)];
      return (...given) => isBetween.every((each) => each(...given));
    }
    return compare(first, operator, second);
  }

  #take(): string {
    return this.#tokens.shift() ?? '';
  }

  #skip(token: string): boolean {
    const isNext = this.#tokens[0] === token;
    if (isNext) this.#tokens.shift();
    return isNext;
  }

  #expect(token: string): void {
    if (!this.#skip(token)) throw new SyntaxError(`"${this.#tokens[0]}" instead of "${token}"`);
  }

  #takeArguments(): string[] {
    this.#expect('(');
    const values = [this.#take()];
    while (this.#skip(',')) values.push(this.#take());
    this.#expect(')');
    return values;
  }
}

/** A comparison with an attribute that is missing, or of values of two types, does not hold. */
function compare(left: string, operator: string, right: string): Condition {
  const comparison = comparisons[operator];
  if (comparison === undefined) throw new SyntaxError(`"${operator}" instead of a comparison`);
  return (...given) => {
    const [one, other] = [evaluate(left, ...given), evaluate(right, ...given)];
    return one !== undefined && typeof one === typeof other && comparison(one as never, other as never);
  };
}
