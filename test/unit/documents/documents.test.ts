import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { examplesOf, operations } from '../../../conformance/contract/description.ts';
import { conformanceCases } from '../../../conformance/suite.ts';
import { bookFields } from '../../../lib/books/book.ts';
import type { Field, Schema } from '../../../lib/fields.ts';
import { type Outcome, outcomes } from '../../../lib/http/outcomes.ts';
import { gatewayResponses } from '../../../serverless/api-gateway/gateway-responses.ts';
import { functionNames, functions, tableFunctions } from '../../../serverless/functions.ts';
import { readDescription } from '../../../tools/openapi/description.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const project = JSON.parse(read('package.json'));

const specification = read('docs/specification.md').replaceAll(/\s+/g, ' ');
/** A field of a book may have the name of a parameter, so only the endpoint's own section counts. */
const sectionOf = (route: string) => specification.split(' ## ').find((text) => text.includes(`. ${route} - `)) ?? '';
const toText = (value: unknown) => JSON.stringify(value);
const only = (texts: readonly string[], others: readonly string[]) => texts.filter((text) => !others.includes(text));

const usesTable = (route: string) =>
  tableFunctions.some(({ event: { method, path } }) => `${method} ${path}` === route);

/** The statuses that API Gateway may give to any request. */
const ofGateway = ['400', '429', '502', '504'];

/** Those of API Gateway, of the check of a token, and of the table. */
const failuresOf = ({ route, isPublic }: { readonly route: string; readonly isPublic: boolean }) => [
  ...ofGateway,
  ...(isPublic ? [] : ['401', '500']),
  ...(usesTable(route) ? ['500', '503'] : []),
];

const rules = read('docs/specification.md')
  .split(/^- (?=\*\*\d)/m)
  .slice(1)
  .map((text) => ({
    number: /^\*\*(\d+\.\d+)\*\* /.exec(text)?.[1] ?? text,
    /** The file that tests it, for a rule without a conformance case of its own. */
    testFile: /\sTest:\s`([^`]+)`/.exec(text)?.[1],
  }));
const cases = globSync('conformance/cases/*.ts').map(read).join();
const cited = new Set(conformanceCases.flatMap((conformanceCase) => conformanceCase.rules));

test('the rules of the specification are numbered without a gap, section by section', () => {
  const numbers = rules.map(({ number }) => number);
  const sections = Object.values(Object.groupBy(numbers, (number) => number.split('.')[0] ?? ''));

  expect(numbers).toEqual(sections.flatMap((all = [], section) => all.map((_, at) => `${section + 1}.${at + 1}`)));
  expect(numbers.length).toBeGreaterThan(80);
});

test('each rule of the specification has a conformance case, or a test that exists', () => {
  const isTested = ({ number, testFile }: (typeof rules)[number]) =>
    testFile === undefined ? cited.has(number) : existsSync(testFile);

  const untested = rules.filter((rule) => !isTested(rule));
  expect(untested.map(({ number }) => `rule ${number} has no case in conformance/cases/`)).toEqual([]);
});

test('conformance cases cite rules that exist, and have names of their own', () => {
  const numbers = rules.map(({ number }) => number);
  const names = conformanceCases.map(({ name }) => name);

  expect([...cited].filter((number) => !numbers.includes(number))).toEqual([]);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

const deployer = parse(read('serverless/resources/deployer.yml'), { logLevel: 'silent' }).Resources;
const boundaryActions: readonly string[] = deployer.Boundary.Properties.PolicyDocument.Statement.flatMap(
  ({ Action }: { readonly Action: string }) => Action,
).map((action: string) => action.replace('dynamodb:', ''));

/** The functions whose logs `query` in docs/incidents.md reads. */
const queried = /\/lambda\/\$STACK-\{([\w,]+)\}/.exec(read('docs/incidents.md'))?.[1]?.split(',') ?? [];

test('each function has a role, and openapi.yaml and the specification have the endpoints of serverless.yml', () => {
  const served = functions.map(({ event: { method, path } }) => `${method} ${path}`);
  const described = operations.map(({ route }) => route);

  expect([
    ...functions
      .filter(({ tableActions }) => tableActions === undefined)
      .map(({ name }) => `${name} has no role: serverless.yml does not say its tableActions`),
    // The pipeline's functions may do nothing else, whatever their roles say.
    ...functions.flatMap(({ name, tableActions = [] }) =>
      only(tableActions, boundaryActions).map(
        (action) => `Boundary in deployer.yml lacks dynamodb:${action} of ${name}`,
      ),
    ),
    ...only(served, described).map((route) => `${route} is in serverless.yml and not in openapi.yaml`),
    ...only(described, served).map((route) => `${route} is in openapi.yaml and not in serverless.yml`),
    ...served
      .filter((route) => !specification.includes(`. ${route} - `))
      .map((route) => `${route} has no section with rules in docs/specification.md`),
    ...only(functionNames, queried).map((name) => `query in docs/incidents.md lacks the log of ${name}`),
    ...operations.flatMap(({ route, parameters }) => {
      // Rule 7.9 and its cases are about every field.
      const isOther = (name: string) => !(name in bookFields);
      const names = parameters.flatMap(({ name, in: place }) => (place === 'query' && isOther(name) ? name : []));
      return [
        ...names
          .filter((name) => !sectionOf(route).includes(`\`${name}\``))
          .map((name) => `the parameter ${name} of ${route} has no rule in its section of docs/specification.md`),
        ...names
          .filter((name) => !cases.includes(`${name}=`))
          .map((name) => `the parameter ${name} of ${route} has no case in conformance/cases/`),
      ];
    }),
    ...operations.flatMap((operation) =>
      only(failuresOf(operation), Object.keys(operation.responses)).map(
        (status) => `${operation.route} has no ${status} in openapi.yaml`,
      ),
    ),
  ]).toEqual([]);
});

test('rule 3.1 of the specification has a line for each field of a book, with its limits and its default', () => {
  const [, rule = ''] = /^- \*\*3\.1\*\* (.*?)^- /ms.exec(read('docs/specification.md')) ?? [];
  const lines: Record<string, string> = Object.fromEntries(
    [...rule.matchAll(/^ {2}- `(\w+)`: (.*(?:\n {4}.*)*)/gm)].map((line) => line.slice(1)),
  );
  const missingIn = (name: string, schema: Field & Partial<Schema>) => {
    const { type, default: value, enum: allowed = [], description: _, ...limits } = schema;
    const words = lines[name]?.match(/`.*?`(?: by default)?|-?\d[\d,]*(?<!,)|\w+/g);
    const bounds = Object.values(limits).map((limit) =>
      typeof limit === 'number' ? limit.toLocaleString('en') : `\`${limit}\``,
    );
    const values = [`\`${toText(value)}\` by default`, ...allowed.map((each) => `\`${toText(each)}\``)];
    return words ? only([type, ...bounds, ...values], words) : [`a line that begins with - \`${name}\`:`];
  };

  expect([
    ...Object.entries(bookFields).flatMap(([name, field]) =>
      missingIn(name, field).map((fact) => `rule 3.1 of docs/specification.md does not say of ${name}: ${fact}`),
    ),
    ...only(Object.keys(lines), Object.keys(bookFields)).map((name) => `rule 3.1 has ${name}, which is not a field`),
  ]).toEqual([]);
});

test('the generated part of openapi.yaml is what the tables in lib/ say', async () => {
  const { text, current } = await readDescription();

  expect(text, 'openapi.yaml is not current: run `npm run openapi`').toBe(current);
});

test('openapi.yaml has the errors of the functions and of API Gateway, each under its status with its headers', () => {
  const toLine = (status: string, example: unknown, headers = {}) => {
    const names = Object.keys(headers).filter((name) => name !== 'x-amzn-RequestId');
    return [status, JSON.stringify(example), ...names].join(' ');
  };
  const described = operations
    .flatMap(({ responses }) => Object.entries(responses))
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, response]) =>
      Object.values(examplesOf(response)).map((example) => toLine(status, example, response.headers)),
    );
  const possible = [...Object.values<Outcome>(outcomes), ...Object.values<Outcome>(gatewayResponses)]
    // A path that is not described has no example.
    .filter((outcome) => outcome.status >= 400 && outcome !== gatewayResponses.RESOURCE_NOT_FOUND)
    .map(({ status, message, headers }) => toLine(`${status}`, { status, message, data: null }, headers));

  expect([
    ...only(possible, described).map((failure) => `${failure} has no response in openapi.yaml`),
    ...only(described, possible).map((failure) => `${failure} is in openapi.yaml, and nobody sends it`),
  ]).toEqual([]);
});

test('the schemas of responses are open: generated clients accept a field that is added later', () => {
  expect(read('openapi.yaml')).not.toContain('additionalProperties');
});

test('the specification has the status and the message of each example of openapi.yaml', () => {
  const responses = operations.flatMap((operation) => Object.values(operation.responses));
  const examples = responses.flatMap((response) => Object.values(examplesOf(response)) as Outcome[]);

  const texts = new Set(examples.map(({ status, message }) => `${status} \`${message}\``));
  const absent = [...texts].filter((text) => !specification.includes(text));
  expect(absent.map((text) => `docs/specification.md has no ${text}`)).toEqual([]);
});

test('no document and no step of CI names an npm script that does not exist', () => {
  const named = globSync(['*.md', 'docs/*.md', 'tools/*/README.md', '.ci/run', '.github/workflows/*.yml']).flatMap(
    (document) =>
      [...read(document).matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g)].map(([, script = '']) => ({ document, script })),
  );
  const absent = named.filter(({ script }) => !(script in project.scripts));

  expect(absent.map(({ document, script }) => `${document} names npm run ${script}`)).toEqual([]);
  expect(named.length).toBeGreaterThan(20);
});

/** Whether a file exists, and the anchor, if there is one, is that of a heading in it. */
function isThere(file: string, anchor: string): boolean {
  const toAnchor = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-');
  if (!existsSync(file)) return false;
  const headings = [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => toAnchor(heading));
  return anchor === '' || headings.includes(anchor);
}

test('each link in a document leads to a file that exists, and to a heading of it', () => {
  const documents = globSync(['*.md', '.github/*.md', 'docs/*.md', 'tools/*/README.md']);
  const links = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)/g)].map(([link, path = '', anchor = '']) => {
      const file = path === '' ? document : normalize(join(dirname(document), path));
      return { text: `${document} has ${link}`, leads: isThere(file, anchor) };
    }),
  );

  expect(links.flatMap(({ text, leads }) => (leads ? [] : text))).toEqual([]);
  expect(links.length).toBeGreaterThan(50);
});

// Such as the advice in an error, or a reason in a comment.
test('each document that a source names exists, with the heading', () => {
  const sources = globSync([
    '*.yml',
    '.github/**/*.yml',
    '{lib,handlers,serverless,tools,test}/**/*.{ts,js,yml}',
  ]).filter((file) => !file.includes('node_modules'));
  const named = sources.flatMap((source) =>
    [...read(source).matchAll(/\b(docs\/[a-z]+\.md)(?:#([\w-]+))?/g)].map(([text, file = '', anchor = '']) => ({
      text: `${source} names ${text}`,
      leads: isThere(file, anchor),
    })),
  );

  expect(named.flatMap(({ text, leads }) => (leads ? [] : text))).toEqual([]);
  expect(named.length).toBeGreaterThan(20);
});

test('package.json, its lock file, openapi.yaml and the changelog name the same version', () => {
  const versions = [
    JSON.parse(read('package-lock.json')).packages[''].version,
    parse(read('openapi.yaml')).info.version,
    /^## (\d+\.\d+\.\d+) - (?:unreleased|\d{4}-\d\d-\d\d)$/m.exec(read('CHANGELOG.md'))?.[1],
  ];

  expect(versions).toEqual(Array(3).fill(project.version));
});
