import { expect, test } from 'vitest';
import { type FunctionSetting, settings } from '../../../lib/settings.ts';
import { readTemplate } from './template.ts';

type Template = ReturnType<typeof readTemplate>;

const secretVariables = Object.values<FunctionSetting>(settings).flatMap(({ variable, isSecret }) =>
  isSecret ? variable : [],
);

/** A dynamic reference, which CloudFormation resolves when it changes the resource. */
const reference = /^\{\{resolve:secretsmanager:\$\{(?<secret>\w+)\}:SecretString(:\w+)?\}\}$/;

/** The one place where a template may refer to the value of a secret. */
const ofFunction = /^Resources\.(?<id>\w+)\.Properties\.Environment\.Variables\.(?<variable>\w+)(\..+)?$/;

/** @returns a sentence for each secret that others than the functions can read */
function findExposedSecrets(template: Template): readonly string[] {
  const isOfType = (id = '', type: string) => template.Resources[id]?.Type === type;
  return readTexts(template).flatMap(({ path, text }) => {
    const { id, variable = '' } = ofFunction.exec(path)?.groups ?? {};
    const isOfFunction = isOfType(id, 'AWS::Lambda::Function');
    if (!isOfFunction) return text.includes('{{resolve:secretsmanager:') ? `${path} shows a secret` : [];
    if (!secretVariables.includes(variable) || text === '') return [];
    const { secret } = reference.exec(text)?.groups ?? {};
    return isOfType(secret, 'AWS::SecretsManager::Secret') ? [] : `${path} is no reference to a secret`;
  });
}

/** Finds the texts in a value, with their paths. */
function readTexts(value: unknown, path = ''): readonly { readonly path: string; readonly text: string }[] {
  if (typeof value !== 'object' || value === null) return [{ path: path.slice(1), text: String(value) }];
  return Object.entries(value).flatMap(([name, member]) => readTexts(member, `${path}.${name}`));
}

test.each(['prod', 'dev', 'dev-with-all'])('only functions refer to secrets in the template of %s', (name) => {
  const template = readTemplate(name);

  expect(findExposedSecrets(template)).toEqual([]);
  expect(JSON.stringify(template).split('{{resolve:secretsmanager:').length).toBeGreaterThan(secretVariables.length);
});
