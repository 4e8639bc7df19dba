import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const products = '{.ci,handlers,lib,serverless,tools}';

test.each([
  { folder: 'conformance', rule: 'know a service by HTTP alone', foreign: /^(?!conformance\/)/ },
  { folder: products, rule: 'import nothing from tests', foreign: /^test\// },
  { folder: 'lib/books', rule: 'stand alone', foreign: /^(?!lib\/(books\/|fields\.ts))/ },
  { folder: 'lib/http', rule: 'stand alone', foreign: /^(?!lib\/(http\/|fields\.ts))/ },
  { folder: 'lib/auth', rule: 'stand alone but for the log', foreign: /^(?!lib\/(auth\/|log\.ts))/ },
  {
    folder: 'lib/dynamodb',
    rule: 'know books and no HTTP',
    foreign: /^(?!lib\/((dynamodb|books)\/|invocation-signal\.ts|fields\.ts))/,
  },
])('the files of $folder $rule', ({ folder, foreign }) => {
  const files = globSync(`${folder}/**/*.{ts,js,mjs}`, { exclude: ['**/node_modules'] });
  const imports = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import\(|import) ?'(\.[^']*)'/g)].map(
      ([, path = '']) => ({
        file,
        path: join(dirname(file), path),
      }),
    ),
  );

  expect(imports.length).toBeGreaterThan(0);
  expect(imports.filter(({ path }) => foreign.test(path))).toEqual([]);
});
