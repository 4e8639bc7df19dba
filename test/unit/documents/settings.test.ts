import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { type FunctionSetting, type Setting, type SettingKind, settings } from '../../../lib/settings.ts';
import { stageParameters } from '../../../serverless/deploy/stage-parameters.ts';
import { functions } from '../../../serverless/functions.ts';
import { loadLocalConfig, localSettings } from '../../../serverless/local/local-config.ts';

const read = (file: string) => readFileSync(file, 'utf8');

/** Settings by name, with their texts in the documents. */
const list = <Of extends Setting>(table: Readonly<Record<string, Of>>) =>
  Object.entries(table).map(([name, setting]) => ({ name, ...setting, range: rangeOf(setting.kind) }));
const ofFunctions = list<FunctionSetting>(settings);
const ofLocalService = list<FunctionSetting>(localSettings);

const service = parse(read('serverless.yml'), { logLevel: 'silent' });
/** The variables of settings: those of all functions, and those that serverless.yml gives to one. */
const variables = [
  ...ofFunctions.map(({ variable }) => variable),
  ...functions.flatMap(({ name }) => Object.keys(service.functions[name].environment ?? {})),
];
const stages: Readonly<Record<string, Readonly<Record<string, unknown>>>> = parse(read('serverless/stages.yml'));

/** The parameters that Parameter Store may override, with their defaults. */
const stored = Object.entries(stages.default ?? {}).flatMap(([name, value]) => {
  const [, setting, text] = /^\$\{setting:(\w+), '?(.*?)'?\}$/.exec(String(value)) ?? [];
  return setting === name ? [{ name, text }] : [];
});

/** @returns the bounds of a whole number as documents write them, like `60 to 86,400` */
function rangeOf({ minimum, maximum }: SettingKind<unknown>): string {
  return maximum === undefined ? '' : `${minimum?.toLocaleString('en-US')} to ${maximum.toLocaleString('en-US')}`;
}

/** Reads the cells of a table by the names in the first ones. */
function readTable(file: string, heading: string): ReadonlyMap<string, readonly string[]> {
  const [, section = ''] = read(file).split(`\n## ${heading}\n`);
  const [text = ''] = section.split('\n## ');
  const rows = text.match(/^\| `.*(?= \|$)/gm) ?? [];
  return new Map(
    rows.flatMap((row) => {
      const [names = '', ...cells] = row.slice(2).split(' | ');
      return (names.match(/\w+/g) ?? []).map((name) => [name, cells] as const);
    }),
  );
}

const only = (texts: readonly string[], others: readonly string[]) => texts.filter((text) => !others.includes(text));

test.each(functions)(
  'serverless.yml gives $name the settings that it reads, and no others',
  async ({ name, handler }) => {
    const { environment } = service.functions[name];
    const values = Object.entries({ ...service.provider.environment, ...environment });
    // An empty text takes the value of all functions away from one.
    const given = values.flatMap(([variable, value]) => (value === '' ? [] : variable));
    const used = new Set<string>();
    const get = (_: object, variable: string) => {
      if (variables.includes(variable)) used.add(variable);
      return undefined;
    };
    vi.resetModules();
    vi.stubGlobal('process', { ...process, env: new Proxy({}, { get }) });

    // It reads all its settings, and ends when one is not set that has to be.
    const problem = await import(`../../../handlers/${basename(handler, '.handler')}.ts`).then(() => '', String);
    expect(problem).toMatch(/^$|: The configuration cannot be loaded: \w+ is not set/);

    expect([
      ...only([...used], given).map((variable) => `${name} reads ${variable}, which serverless.yml does not give it`),
      ...only(given, [...used, 'DEPLOYED_AT', 'NODE_OPTIONS', 'SSL_CERT_FILE']).map(
        (variable) => `${name} does not read ${variable} of serverless.yml`,
      ),
    ]).toEqual([]);
  },
);

test('the values in serverless.yml are parameters, or come from resources: secrets from Secrets Manager', () => {
  const environments = [service.provider, ...functions.map(({ name }) => service.functions[name])];
  const values = environments
    .flatMap(({ environment = {} }) => Object.entries(environment))
    .filter(([, value]) => value !== '');
  const isStored = (value: unknown) => String(value).includes('{{resolve:secretsmanager:');
  const isReference = (value: unknown) => isStored(value) || typeof value === 'object';

  const problems = ofFunctions.flatMap(({ name, variable, isSecret }) => {
    const ofSetting = values.filter(([given]) => given === variable).map(([, value]) => value);
    const parameter = `\${param:${name}}`;
    if (isSecret) return ofSetting.every(isStored) ? [] : `${variable} has to come from Secrets Manager`;
    const isRight = name in stageParameters ? (value: unknown) => value === parameter : isReference;
    return ofSetting.every(isRight) ? [] : `${variable} has to be ${parameter} in serverless.yml`;
  });

  expect(problems).toEqual([]);
});

test('serverless/stages.yml has each parameter, with the default of the setting where there is one', () => {
  const names = Object.keys(stageParameters);
  const given = Object.keys(stages.default ?? {});
  const isStored = new Map(stored.map(({ name, text }) => [name, text]));

  expect([
    ...only(names, given).map((name) => `serverless/stages.yml has no ${name}`),
    ...only(given, names).map((name) => `${name} in serverless/stages.yml is not in stage-parameters.ts`),
    ...ofFunctions
      .filter(({ name, default: text }) => name in stageParameters && isStored.get(name) !== text)
      .map(
        ({ name, default: text }) => `${name} in serverless/stages.yml has to be \${setting:${name}, ${text || "''"}}`,
      ),
  ]).toEqual([]);
});

test('docs/operations.md has each setting of a stage in its table, with default and range', () => {
  const rows = readTable('docs/operations.md', 'Settings');
  const names = stored.map(({ name }) => name);

  expect([
    ...only(names, [...rows.keys()]).map((name) => `the table of docs/operations.md has no setting ${name}`),
    ...only([...rows.keys()], names).map((name) => `${name} in docs/operations.md is not a setting of a stage`),
    ...stored.flatMap(({ name, text = '' }) => {
      const [meaning = '', cell] = rows.get(name) ?? [];
      const range = rangeOf(stageParameters[name as keyof typeof stageParameters].kind);
      return [
        ...(text === '' || cell === text ? [] : [`the default of ${name} in docs/operations.md is not ${text}`]),
        ...(meaning.includes(range) ? [] : [`the meaning of ${name} in docs/operations.md lacks its range, ${range}`]),
      ];
    }),
  ]).toEqual([]);
});

test('README.md has each setting of the local service in its table, with default and range', () => {
  const rows = readTable('README.md', 'Run it locally');
  const names = ofLocalService.map(({ variable }) => variable);

  expect([
    ...only(names, [...rows.keys()]).map((name) => `the table of README.md has no setting ${name}`),
    ...only([...rows.keys()], names).map((name) => `${name} in README.md is not a setting of the local service`),
    ...ofLocalService.flatMap(({ variable, default: text = '', range }) => {
      const [meaning = '', cell = ''] = rows.get(variable) ?? [];
      const isRight = cell === `\`${text}\`` || (range === '' && !cell.includes('`'));
      return [
        ...(isRight ? [] : [`the default of ${variable} in README.md is not ${text}`]),
        ...(meaning.includes(range) ? [] : [`the meaning of ${variable} in README.md lacks its range, ${range}`]),
      ];
    }),
  ]).toEqual([]);
});

test('.env.example has each setting of the local service, with its default', () => {
  const example = read('.env.example');
  const names = [...example.matchAll(/^(?:# )?([A-Z][A-Z_]+)=/gm)].map(([, name = '']) => name);

  const missing = only(
    ofLocalService.map(({ variable }) => variable),
    names,
  );
  expect(missing.map((name) => `.env.example has no ${name}`)).toEqual([]);
  expect(loadLocalConfig('/nowhere', parseEnv(example))).toEqual(loadLocalConfig('/nowhere', {}));
});

test('a rule of the specification names each setting of the functions, with its range and its default', () => {
  const rules = read('docs/specification.md')
    .replaceAll(/\s+/g, ' ')
    .split(/ - (?=\*\*\d)/);
  const facts = ofFunctions.map(({ variable, range, default: text = '' }) => [`\`${variable}\``, range, text]);

  const missing = facts.filter((all) => !rules.some((rule) => all.every((fact) => rule.includes(fact))));
  expect(missing.map((all) => `docs/specification.md has no rule with ${all.filter(Boolean)}`)).toEqual([]);
});
