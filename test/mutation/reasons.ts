/** Mutants that no test kills, and why. Each has to survive: one that a test kills, or that is gone, fails the run. */
export interface Reason {
  readonly file: string;
  /** The code that is replaced, wherever the file has it. */
  readonly code: string;
  /** What replaces it, as the command prints it. */
  readonly mutants: readonly string[];
  readonly reason: string;
}

export const reasons: readonly Reason[] = [
  {
    file: 'lib/auth/token.ts',
    code: 'false',
    mutants: ['true'],
    reason: 'Whether the key could be read again matters to nobody but the code that holds it.',
  },
  {
    file: 'lib/dynamodb/book-change.ts',
    code: 'writeToken > seen',
    mutants: ['writeToken >= seen'],
    reason: 'They are never equal: a new token has bits that are random.',
  },
  {
    file: 'lib/dynamodb/book-change.ts',
    code: 'token < version',
    mutants: ['token <= version'],
    reason: 'They are never equal: a book that is stored with the token of an attempt is the result.',
  },
  {
    file: 'lib/dynamodb/book-repository.ts',
    code: 'token < version',
    mutants: ['token <= version'],
    reason: 'They are never equal: a book that is stored with the token of an attempt is the result.',
  },
  {
    file: 'lib/dynamodb/query-page.ts',
    code: 'incomplete.length === 0',
    mutants: ['false'],
    reason: 'It saves time: without it, a page whose books have all fields is divided into books.',
  },
  {
    file: 'lib/fields.ts',
    code: 'length <= codePoints',
    mutants: ['false', 'length < codePoints'],
    reason: 'It saves time: a text that is short enough in any case is not divided into code points.',
  },
  {
    file: 'lib/fields.ts',
    code: 'length <= 2 * codePoints',
    mutants: ['true'],
    reason: 'It saves memory: a text that is too long in any case is not divided into code points.',
  },
  {
    file: 'lib/http/json-body.ts',
    code: '{ return undefined; }',
    mutants: ['{}'],
    reason: 'Without the statement, which TypeScript asks for, the function returns undefined as well.',
  },
];
