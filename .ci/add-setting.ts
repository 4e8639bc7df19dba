/**
 * `node .ci/add-setting.ts`: adds the setting of CONTRIBUTING.md in a copy of the project, as it says. Each line that is
 * still missing has to be named by a test. Then it runs the checks and tests, starts the service with the setting, and
 * tries wrong values at a start and a deploy.
 */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { LocalService, startCommand, validToken } from '../test/support/local-service.ts';
import { linesOfContributing, ProjectCopy } from './project-copy.ts';

/** The line of CONTRIBUTING.md that begins like this. */
function lineOf(start: string): string {
  const line = linesOfContributing(start).trim();
  assert.match(line, /^[^\n]+$/, `CONTRIBUTING.md has to have one line ${start}`);
  return line;
}

const tests = ['test/unit/settings.test.ts', 'test/unit/stage-parameters.test.ts'];

const copy = new ProjectCopy();
try {
  console.log('--- a secret of any kind: no parameter is missing, and a test refuses one');
  const secret = "  users: { variable: 'AUTH_USERS', kind: oneOf('Ada', 'Emma'), isSecret: true },\n";
  const ofPassword = /^ {6}AUTH_PASSWORD: .*\n/m;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the framework replaces it
  const asParameter = '      AUTH_USERS: ${param:users}\n';
  copy.edit('lib/settings.ts', /^ {2}table: /m, (line) => secret + line);
  copy.edit('serverless.yml', ofPassword, (line) => line + asParameter);
  const output = expectFailures(['AUTH_USERS has to come from Secrets Manager']);
  assert.doesNotMatch(output, /serverless\/stages\.yml has no users/);
  copy.edit('serverless.yml', asParameter, () => '');
  copy.edit('lib/settings.ts', secret, () => '');

  console.log('--- the declaration and its use: tests name what is missing');
  copy.edit('lib/settings.ts', /^ {2}table: /m, (line) => `  ${lineOf('bookMaxAge: \\{')}\n${line}`);
  copy.edit('handlers/get-book.ts', /^const config = .*$/m, () => lineOf('const config = '));
  copy.edit('handlers/get-book.ts', /^const caching = .*$/m, () => lineOf('const caching = '));
  expectFailures([
    'getBook reads BOOK_MAX_AGE, which serverless.yml does not give it',
    'serverless/stages.yml has no bookMaxAge',
    'the table of README.md has no setting BOOK_MAX_AGE',
    '.env.example has no BOOK_MAX_AGE',
    'docs/specification.md has no rule with `BOOK_MAX_AGE` and 0 to 86,400',
    'CHANGELOG.md does not name BOOK_MAX_AGE',
  ]);

  console.log('--- the lines of a stage, each wrong at first');
  const toGetBook = /tableActions: \[GetItem\]\n {4}environment:\n/;
  copy.edit('serverless.yml', toGetBook, (found) => `${found}      BOOK_MAX_AGE: 60\n`);
  copy.edit(
    'serverless/stages.yml',
    /^ {2}tokenLifetime: /m,
    (found) => `  bookMaxAge: \${setting:bookMaxAge, 5}\n${found}`,
  );
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the framework replaces them
  expectFailures([
    'BOOK_MAX_AGE has to be ${param:bookMaxAge} in serverless.yml',
    'bookMaxAge in serverless/stages.yml has to be ${setting:bookMaxAge, 0}',
    'the table of docs/operations.md has no setting bookMaxAge',
  ]);
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above
  copy.edit('serverless.yml', /BOOK_MAX_AGE: 60/, () => lineOf('BOOK_MAX_AGE: '));
  copy.edit('serverless/stages.yml', /bookMaxAge: .*/, () => lineOf('bookMaxAge: \\$'));

  console.log('--- the lines of the documents, with a wrong default and no range at first');
  const meaning = 'Seconds in which a cache need not ask for a book again';
  const afterLifetime = /^\| `(?:TOKEN_LIFETIME|tokenLifetime)` .*\n/m;
  copy.edit('README.md', afterLifetime, (line) => `${line}| \`BOOK_MAX_AGE\` | ${meaning} | \`1\` |\n`);
  copy.edit('docs/operations.md', afterLifetime, (line) => `${line}| \`bookMaxAge\` | ${meaning} | 1 |\n`);
  copy.edit('.env.example', /^TOKEN_LIFETIME=.*\n/m, (line) => `${line}BOOK_MAX_AGE=0\n`);
  const rule =
    '`private, max-age=BOOK_MAX_AGE, must-revalidate`, with `BOOK_MAX_AGE` seconds: 0 to 86,400, 0 by default';
  copy.edit(
    'docs/specification.md',
    '`Cache-Control: private, max-age=0, must-revalidate`',
    () => `\`Cache-Control\` ${rule}`,
  );
  copy.edit('CHANGELOG.md', /^## .*\n/m, (line) => `${line}\n- \`BOOK_MAX_AGE\`\n`);
  expectFailures([
    'the default of BOOK_MAX_AGE in README.md is not 0',
    'the meaning of BOOK_MAX_AGE in README.md lacks its range, 0 to 86,400',
    'the default of bookMaxAge in docs/operations.md is not 0',
    'the meaning of bookMaxAge in docs/operations.md lacks its range, 0 to 86,400',
  ]);
  copy.edit('README.md', `${meaning} | \`1\``, () => `${meaning}, 0 to 86,400 | \`0\``);
  copy.edit('docs/operations.md', `${meaning} | 1`, () => `${meaning}, 0 to 86,400 | 0`);
  copy.run('check');
  copy.run('test');

  console.log('--- the service with the setting in .env');
  copy.write('.env', 'BOOK_MAX_AGE=60\n');
  const service = await LocalService.start({ DB_PATH: join(copy.folder, 'books') }, copy.path);
  try {
    const headers = { Authorization: validToken };
    await fetch(`${service.baseUrl}/book`, { method: 'POST', headers, body: '{"title":"Emma"}' });
    const response = await fetch(`${service.baseUrl}/book/1`, { headers });
    assert.equal(response.headers.get('Cache-Control'), 'private, max-age=60, must-revalidate');
  } finally {
    await service.stop();
  }

  console.log('--- wrong values at a start and a deploy');
  for (const [value, problem] of [
    ['', 'is empty'],
    ['86401', 'is not a whole number of seconds, 0 to 86400'],
  ]) {
    copy.write('.env', `BOOK_MAX_AGE=${value}\n`);
    const { exitCode, output } = await startCommand(['serverless/main.js', 'offline'], process.env, copy.path).ended;
    const [, paragraph = ''] = output.split('Error:\n');
    assert.equal(exitCode, 1);
    assert.match(paragraph.trim(), new RegExp(`^The configuration cannot be loaded: BOOK_MAX_AGE ${problem}\\. .*$`));
  }
  const deploy = ['serverless/main.js', 'package', '--param', 'bookMaxAge=1 day'];
  assert.match(copy.fail('node', deploy), /^bookMaxAge has to be a whole number of seconds, 0 to 86400\.$/m);
} finally {
  copy.remove();
}

/** Runs the tests of settings, which have to fail with each of these texts. @returns their output */
function expectFailures(expected: readonly string[]): string {
  const output = copy.fail('npx', ['vitest', 'run', ...tests]);
  for (const failure of expected) assert.ok(output.includes(failure), `no test says: ${failure}\n${output}`);
  return output;
}
