import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { conformanceCases } from '../../conformance/suite.ts';

interface Rule {
  readonly number: string;
  /** The file that tests it, for a rule without a conformance case of its own. */
  readonly testFile: string | undefined;
}

const rules: readonly Rule[] = readFileSync('docs/specification.md', 'utf8')
  .split(/^- (?=\*\*\d)/m)
  .slice(1)
  .map((text) => ({
    number: /^\*\*(?<number>\d+\.\d+)\*\* /.exec(text)?.groups?.number ?? text,
    testFile: /\sTest:\s`(?<file>[^`]+)`/.exec(text)?.groups?.file,
  }));

const cited = new Set(conformanceCases.flatMap((conformanceCase) => conformanceCase.rules));

describe('docs/specification.md', () => {
  test('numbers its rules without a gap, section by section', () => {
    const numbers = rules.map(({ number }) => number.split('.').map(Number) as [number, number]);
    const expected = Object.values(Object.groupBy(numbers, ([section]) => section)).flatMap(
      (members = [], index) => members.map((_, position) => [index + 1, position + 1]),
    );

    expect(numbers).toEqual(expected);
    expect(numbers.length).toBeGreaterThan(80);
  });

  test('has no rule that no conformance case and no test shows', () => {
    const shownByNothing = rules.filter(
      ({ number, testFile }) => testFile === undefined && !cited.has(number),
    );

    expect(shownByNothing.map(({ number }) => number)).toEqual([]);
  });

  test('names tests that exist', () => {
    const missing = rules.flatMap(({ testFile }) => testFile ?? []).filter((file) => !existsSync(file));

    expect(missing).toEqual([]);
  });

  test('has every rule that a conformance case cites', () => {
    const known = new Set(rules.map(({ number }) => number));
    const astray = conformanceCases.filter(({ rules: numbers }) =>
      numbers.some((number) => !known.has(number)),
    );

    expect(astray.map(({ name, rules: numbers }) => `${name}: ${numbers}`)).toEqual([]);
  });

  test('has no two conformance cases of one name', () => {
    const names = conformanceCases.map(({ name }) => name);

    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
