import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { description, examplesOf, operations } from '../../conformance/contract/description.ts';
import { decodeToken, forgeToken } from '../../conformance/forge-token.ts';
import { conformanceCases } from '../../conformance/suite.ts';
import { type Outcome, outcomes } from '../../lib/http/outcomes.ts';
import { gatewayResponses } from '../../serverless/deploy/gateway-responses.ts';
import { loadLocalConfig } from '../../serverless/local/local-config.ts';
import { readDescription } from '../../tools/api/description.ts';

/** More, and `npm run` is no overview any longer. */
const maxScripts = 22;

const read = (file: string) => readFileSync(file, 'utf8');
const project = JSON.parse(read('package.json'));

const rules = read('docs/specification.md')
  .split(/^- (?=\*\*\d)/m)
  .slice(1)
  .map((text) => ({
    number: /^\*\*(\d+\.\d+)\*\* /.exec(text)?.[1] ?? text,
    /** The file that tests it, for a rule without a conformance case of its own. */
    testFile: /\sTest:\s`([^`]+)`/.exec(text)?.[1],
  }));
const cited = new Set(conformanceCases.flatMap((conformanceCase) => conformanceCase.rules));

test('the rules of the specification are numbered without a gap, section by section', () => {
  const numbers = rules.map(({ number }) => number);
  const sections = Object.values(Object.groupBy(numbers, (number) => number.split('.')[0] ?? ''));

  expect(numbers).toEqual(
    sections.flatMap((all = [], section) => all.map((_, at) => `${section + 1}.${at + 1}`)),
  );
  expect(numbers.length).toBeGreaterThan(80);
});

test('each rule of the specification has a conformance case, or a test that exists', () => {
  const problems = rules.flatMap(({ number, testFile }) => {
    if (testFile === undefined) return cited.has(number) ? [] : `rule ${number} has no case`;
    return existsSync(testFile) ? [] : `rule ${number} has no test ${testFile}`;
  });

  expect(problems).toEqual([]);
});

test('conformance cases cite rules that exist, and have names of their own', () => {
  const numbers = rules.map(({ number }) => number);
  const names = conformanceCases.map(({ name }) => name);

  expect([...cited].filter((number) => !numbers.includes(number))).toEqual([]);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

/** Status and message of each example. */
const textsOf = (examples: Readonly<Record<string, unknown>>) =>
  (Object.values(examples) as Outcome[]).map(({ status, message }) => `${status} ${message}`);

test('the generated part of openapi.yaml is what the tables in lib/ say', async () => {
  const { text, current } = await readDescription();

  expect(text, 'openapi.yaml is not current: run `npm run api`').toBe(current);
});

test('the example token of openapi.yaml has expired, and is not signed with the local secret', () => {
  const [token = ''] = JSON.stringify(description).match(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g) ?? [];
  const { header, claims } = decodeToken(token) as { header: object; claims: { exp: number } };
  const { signingSecret } = loadLocalConfig('/nowhere', {});

  expect(claims.exp).toBeLessThan(Date.now() / 1000);
  expect(token).not.toBe(forgeToken({ header, claims, secret: signingSecret }));
});

const described = [description.components.responses, ...operations.map(({ responses }) => responses)]
  .flatMap((responses) => Object.values(responses).map(examplesOf))
  .flatMap(textsOf);

test('openapi.yaml has the failures of the functions and of API Gateway, but not that of unknown paths', () => {
  const all: readonly Outcome[] = [...Object.values(outcomes), ...Object.values(gatewayResponses)];
  const failures = all.filter(
    (outcome) => outcome.status >= 400 && outcome !== gatewayResponses.RESOURCE_NOT_FOUND,
  );

  expect(new Set(described.filter((text) => /^[45]/.test(text)))).toEqual(
    new Set(failures.map(({ status, message }) => `${status} ${message}`)),
  );
});

test('the examples of openapi.yaml have the messages of the specification, each under its status', () => {
  const specification = read('docs/specification.md').replaceAll(/\s+/g, ' ');

  expect(described.filter((text) => !specification.includes(text.replace(/ (.*)/, ' `$1`')))).toEqual([]);
  for (const [status, response] of operations.flatMap(({ responses }) => Object.entries(responses))) {
    for (const text of textsOf(examplesOf(response))) expect(text).toMatch(new RegExp(`^${status} `));
  }
});

const scripts = Object.keys(project.scripts);

test(`CONTRIBUTING.md has a line for each of at most ${maxScripts} npm scripts, and names no other`, () => {
  const lines = read('CONTRIBUTING.md').match(/^\| `npm.*/gm) ?? [];
  const isNamed = (script: string) =>
    lines.some((line) => new RegExp(`\`npm (run )?${script}( |\`)`).test(line));
  const named = [...read('CONTRIBUTING.md').matchAll(/npm run ([a-z][\w:-]*)/g)].map(([, script]) => script);

  expect(scripts.filter((script) => !isNamed(script))).toEqual([]);
  expect(named.filter((script = '') => !scripts.includes(script))).toEqual([]);
  expect(scripts.length).toBeLessThanOrEqual(maxScripts);
});

test('package.json, its lock file, the client, openapi.yaml and the changelog name the same version', () => {
  const versions = [
    JSON.parse(read('package-lock.json')).packages[''].version,
    JSON.parse(read('tools/client/package.json')).version,
    parse(read('openapi.yaml')).info.version,
    /^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$/m.exec(read('CHANGELOG.md'))?.[1],
  ];

  expect(versions).toEqual(Array(4).fill(project.version));
});

test('.env.example holds the defaults of every setting of README.md', () => {
  const inReadme = [...read('README.md').matchAll(/^\| `([A-Z][A-Z_]+)` \|/gm)].map(([, name]) => name);
  const inExample = [...read('.env.example').matchAll(/^(?:# )?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name);

  expect(loadLocalConfig('/nowhere', parseEnv(read('.env.example')))).toEqual(
    loadLocalConfig('/nowhere', {}),
  );
  expect(inReadme.length).toBeGreaterThan(4);
  // LOG_FORMAT counts in the environment only.
  expect([...inExample, 'LOG_FORMAT'].toSorted()).toEqual(inReadme.toSorted());
});
