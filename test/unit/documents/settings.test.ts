import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { type FunctionSetting, type Setting, type SettingKind, settings, text } from '../../../lib/settings.ts';
import { checkedParameters } from '../../../serverless/deploy/stage-parameters.ts';
import { stages } from '../../../serverless/deploy/target.ts';
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
const parameters = stages.default ?? {};

/** @returns the bounds of a whole number as documents write them, like `60 to 86,400` */
function rangeOf({ description }: SettingKind<unknown>): string {
  const [range = ''] = /\d+ to \d+$/.exec(description) ?? [];
  return range.replaceAll(/\d+/g, (digits) => Number(digits).toLocaleString('en-US'));
}

/** Reads the cells of a table by the names in the first ones. */
function readTable(file: string, heading: string): ReadonlyMap<string, readonly string[]> {
  const [, section = ''] = read(file).split(`\n## ${heading}\n`);
  const [body = ''] = section.split('\n## ');
  const rows = body.match(/^\| `.*(?= \|$)/gm) ?? [];
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
      ...only(given, [...used, 'DEPLOYED_AT']).map((variable) => `${name} does not read ${variable} of serverless.yml`),
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
    const isRight = name in parameters ? (value: unknown) => value === parameter : isReference;
    return ofSetting.every(isRight)
      ? []
      : `${variable} has to be ${parameter} in serverless.yml, and ${name} in serverless/stages.yml`;
  });

  expect(problems).toEqual([]);
});

test('serverless/stages.yml has the defaults of the functions', () => {
  const defaults = ofFunctions
    .filter(({ name }) => name in parameters)
    .map((setting) => [setting.name, setting.default]);

  expect(defaults.length).toBeGreaterThan(1);
  expect(defaults).toEqual(defaults.map(([name = '']) => [name, String(parameters[name])]));
});

test('docs/operations.md has parameters of serverless/stages.yml in its table, with default and range', () => {
  const rows = [...readTable('docs/operations.md', 'Settings')];

  expect(rows.length).toBeGreaterThan(5);
  expect(
    rows.flatMap(([name, [meaning = '', cell]]) => {
      const range = name in checkedParameters ? rangeOf(checkedParameters[name]?.kind ?? text) : '';
      const isRight = !parameters[name] || cell === String(parameters[name]);
      return [
        ...(name in parameters ? [] : [`${name} in docs/operations.md is not a parameter`]),
        ...(isRight ? [] : [`the default of ${name} in docs/operations.md is not ${parameters[name]}`]),
        ...(meaning.includes(range) ? [] : [`the meaning of ${name} in docs/operations.md lacks its range, ${range}`]),
      ];
    }),
  ).toEqual([]);
});

test('docs/api.md has the limits of the stages in its table', () => {
  const limitsOf = (stage: string, start: string) => {
    const values = { ...parameters, ...stages[stage] };
    return ['RateLimit', 'BurstLimit']
      .map((end) => Number(values[`${start}${end}`]).toLocaleString('en-US'))
      .join(' | ');
  };
  const rows = [
    `| \`prod\` | ${limitsOf('prod', 'throttling')} |`,
    `| \`dev\`, and temporary stages | ${limitsOf('dev', 'throttling')} |`,
    `| \`POST /token\`, in each | ${limitsOf('prod', 'tokenThrottling')} |`,
  ];

  expect(rows.filter((row) => !read('docs/api.md').includes(row))).toEqual([]);
});

test('README.md has each setting of the local service in its table, with default and range', () => {
  const rows = readTable('README.md', 'Run it locally');
  const names = ofLocalService.map(({ variable }) => variable);

  expect([
    ...only(names, [...rows.keys()]).map((name) => `the table of README.md has no setting ${name}`),
    ...only([...rows.keys()], names).map((name) => `${name} in README.md is not a setting of the local service`),
    ...ofLocalService.flatMap(({ variable, default: value = '', range }) => {
      const [meaning = '', cell = ''] = rows.get(variable) ?? [];
      const isRight = cell === `\`${value}\`` || (range === '' && !cell.includes('`'));
      return [
        ...(isRight ? [] : [`the default of ${variable} in README.md is not ${value}`]),
        ...(meaning.includes(range) ? [] : [`the meaning of ${variable} in README.md lacks its range, ${range}`]),
      ];
    }),
  ]).toEqual([]);
});

test('.env.example has each setting of the local service, with its default', () => {
  const example = read('.env.example');
  const names = [...example.matchAll(/^(?:# )?([A-Z][A-Z_]+)=/gm)].map(([, name = '']) => name);

  const absent = only(
    ofLocalService.map(({ variable }) => variable),
    names,
  );
  expect(absent.map((name) => `.env.example has no ${name}`)).toEqual([]);
  expect(loadLocalConfig('/nowhere', parseEnv(example))).toEqual(loadLocalConfig('/nowhere', {}));
});

test('a rule of the specification names each setting of the functions, with its range and its default', () => {
  const rules = read('docs/specification.md')
    .replaceAll(/\s+/g, ' ')
    .split(/ - (?=\*\*\d)/);
  const facts = ofFunctions.map(({ variable, range, default: value = '' }) => [`\`${variable}\``, range, value]);

  const absent = facts.filter((all) => !rules.some((rule) => all.every((fact) => rule.includes(fact))));
  expect(absent.map((all) => `docs/specification.md has no rule with ${all.filter(Boolean)}`)).toEqual([]);
});
