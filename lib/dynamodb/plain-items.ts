/** The items of a response in plain JSON: `{"id":1,"title":"Emma"}` for `{"id":{"N":"1"},"title":{"S":"Emma"}}`. */
export interface PlainItems {
  /** The items with commas between them. */
  readonly items: string;
  readonly itemCount: number;
  /** How many attributes all items have together. */
  readonly attributeCount: number;
  /** The response with an empty array of items. */
  readonly rest: string;
}

const [quotationMark, backslash, colon, openBrace, closeBrace, openBracket, closeBracket, numberType] =
  Buffer.from('"\\:{}[]N');

/** Objects around an item: the response. */
const itemDepth = 2;

/** Objects around an attribute's value: the response, the item or a key, the value's type. */
const valueDepth = 3;

/**
 * Reads the body of a Query's response whose attributes are strings and numbers (Amazon DynamoDB Developer Guide, "Low-level
 * API"). It goes token by token, each string as a whole, so that no text of a book passes for structure. With JSON.parse
 * and JSON.stringify a list would take twice the processor time (docs/benchmarks.md).
 *
 * @param body - a JSON object in UTF-8
 */
export function readPlainItems(body: Uint8Array): PlainItems {
  const plain = Buffer.allocUnsafe(body.length);
  let length = 0;
  let depth = 0;
  let type: number | undefined;
  let start = 0;
  let end = 0;
  let inItems = false;
  let itemCount = 0;
  let attributeCount = 0;

  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    let from = at;
    let to = at + 1;
    if (byte === quotationMark) {
      at = findEndOfString(body, at);
      to = at + 1;
      if (depth === valueDepth) {
        if (type === undefined) {
          type = body[from + 1];
          continue;
        }
        if (inItems) attributeCount += 1;
        if (type === numberType) {
          from += 1;
          to -= 1;
        }
      }
    } else if (byte === openBrace) {
      depth += 1;
      if (depth === itemDepth && inItems) itemCount += 1;
      if (depth === valueDepth) {
        type = undefined;
        continue;
      }
    } else if (byte === closeBrace) {
      depth -= 1;
      if (depth === itemDepth) continue;
    } else if (byte === openBracket) {
      start = length + 1;
      inItems = true;
    } else if (byte === closeBracket) {
      end = length;
      inItems = false;
    } else if (byte === colon && depth === valueDepth) {
      continue;
    }
    for (; from < to; from += 1) {
      plain[length] = body[from] as number;
      length += 1;
    }
  }
  return {
    items: plain.toString('utf8', start, end),
    itemCount,
    attributeCount,
    rest: plain.toString('utf8', 0, start) + plain.toString('utf8', end, length),
  };
}

/** @returns the position of the quotation mark that ends the string which begins at `start` */
function findEndOfString(body: Uint8Array, start: number): number {
  let end = start + 1;
  while (end < body.length && body[end] !== quotationMark) end += body[end] === backslash ? 2 : 1;
  return end;
}
