import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { dirname, resolve } from 'node:path';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { Catalog } from '../../../conformance/catalog.ts';
import { Session } from '../../../conformance/session.ts';
import { groupNames } from '../../../conformance/suite.ts';
import { findDeployedStage, readStack } from '../../../tools/operations/deployed-stage.ts';
import { type Fate, startFaultyGateway } from '../../fakes/faulty-gateway.ts';
import { preparePython } from '../../support/python-environment.ts';
import { startEmulator } from './aws-emulator.ts';
import { createDeployer } from './deployer.ts';
import { makeEmulatedProject } from './emulated-project.ts';
import { runCommand } from './run-command.ts';

export const stage = 'prod';
export const StackName = 'book-catalog-prod';
const region = 'eu-west-1';

/** The conformance cases that the emulator fails and AWS does not. */
const notEmulated = [
  // API Gateway treats such a body as JSON, which is in `binaryMediaTypes`; the emulator treats it as text.
  'A body of the Content-Type undefined is read as JSON',
  // The emulator takes the first one.
  'Of several parameters with one name, the last one counts',
  // The emulator drops an empty value of a repeated header.
  'With a key and an empty one, the request is refused and nothing is stored',
];

export type EmulatedStage = Awaited<ReturnType<typeof startEmulatedStage>>;

/**
 * Starts the emulator, and copies this project for it. From then on, clients of the SDK in this process are those of the
 * account's root user, and the commands have the rights of the pipeline.
 */
export async function startEmulatedStage() {
  const command = preparePython('.venv-aws', 'test/aws/emulator/requirements.txt');
  const emulator = await startEmulator(command('ministack'), region);
  /** The forms that CloudFormation was sent for change sets. */
  const changeSets: URLSearchParams[] = [];
  /** What happens to requests, by the name of their operation. */
  const fates = new Map<string, () => Fate>();
  const proxy = await startFaultyGateway(emulator.url, (_, headers, body) => {
    // Uploads are larger.
    const form = new URLSearchParams(body.length < 1_000_000 ? body.toString() : '');
    const operation = form.get('Action') ?? String(headers['x-amz-target']).split('.').at(-1) ?? '';
    if (operation === 'CreateChangeSet') changeSets.push(form);
    return fates.get(operation)?.() ?? 'pass';
  });
  const project = makeEmulatedProject(emulator.url);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: proxy.baseUrl,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  });
  let deployer: NodeJS.ProcessEnv = {};

  /** Runs a command of package.json for any stage. @param rights - credentials; without, those of an administrator */
  const spawnFor = (name: string, rights: NodeJS.ProcessEnv, script: string, ...options: readonly string[]) => {
    const args = ['run', '--silent', script, '--', '--stage', name, ...options];
    return runCommand('npm', args, project.folder, { ...process.env, ...rights });
  };
  const runScript = (rights: NodeJS.ProcessEnv, script: string, ...options: readonly string[]) =>
    spawnFor(stage, rights, script, ...options);

  /** Runs a command of package.json with the rights of the pipeline. */
  const spawn = (script: string, ...options: readonly string[]) => runScript(deployer, script, ...options);

  /** Finds where the emulator serves a stage; the stack's outputs have AWS's address. */
  const findAddress = async (name = stage) => {
    const { ServiceEndpoint = '' } = (await readStack(name)).outputs;
    const [apiId] = new URL(ServiceEndpoint).hostname.split('.', 1);
    const { origin, port } = new URL(proxy.baseUrl);
    return { baseUrl: `${origin}/${name}`, hostHeader: `${apiId}.execute-api.localhost:${port}` };
  };

  /** Options of the smoke test for the address of a stage. */
  const addressOptions = async (name = stage) => {
    const { baseUrl, hostHeader } = await findAddress(name);
    return ['--base-url', baseUrl, '--host-header', hostHeader];
  };

  /** Options that make the smoke test run the suite. @param groups - those of the cases to run */
  const suiteOptions = async (groups: readonly string[], name = stage) => {
    const leftOut = [...notEmulated, ...groupNames.filter((group) => !groups.includes(group))];
    return [...(await addressOptions(name)), '--whole', ...leftOut.flatMap((each) => ['--without', each])];
  };

  /** Runs a script in bash, with AWS's own command line and the rights of an administrator. @returns what it printed */
  const runShell = async (script: string): Promise<string> => {
    const PATH = `${dirname(resolve(command('aws')))}:${process.env.PATH}`;
    const env = { ...process.env, PATH, AWS_DEFAULT_REGION: region }; // for version 1 of the CLI
    const { status, stdout } = await runCommand('bash', ['-euc', script], project.folder, env);
    assert.equal(status, 0, script);
    return stdout;
  };

  return {
    changeSets,
    fates,
    project,
    spawn,
    /** Makes the deployer stack, and gives its boundary to the roles of the stage. */
    async createDeployer(): Promise<void> {
      const { credentials, boundary } = await createDeployer(stage);
      deployer = credentials;
      project.setParameters({ permissionsBoundary: boundary });
    },
    async run(script: string, ...options: readonly string[]) {
      const result = await spawn(script, ...options);
      assert.equal(result.status, 0, `npm run ${script} failed`);
      return result;
    },
    /** Runs the smoke test as the pipeline does. */
    smoke: async () => spawn('smoke', ...(await addressOptions())),
    /** Runs the conformance suite. @param groups - those of the cases to run; all by default */
    runSuite: async (groups: readonly string[]) => spawn('smoke', ...(await suiteOptions(groups))),
    spawnFor,
    suiteOptions,
    /** Runs `npm run restore` with the rights of an administrator. */
    restore: (...options: readonly string[]) => runScript({}, 'restore', ...options),
    runShell,
    /** Sends a request without a token and a body. @returns the status, whoever responds */
    async readStatus(method: string, path: string): Promise<number | undefined> {
      const { baseUrl, hostHeader } = await findAddress();
      const sent = http.request(baseUrl + path, { method, headers: { Host: hostHeader } }).end();
      const [response] = (await once(sent, 'response')) as [http.IncomingMessage];
      response.resume();
      return response.statusCode;
    },
    async findDeployment(): Promise<string> {
      const args = ['tools/operations/print-deployment.ts', '--stage', stage];
      const { stdout } = await runCommand('node', args, project.folder, { ...process.env, ...deployer });
      return stdout.trim();
    },
    async withCatalog<Result>(use: (catalog: Catalog) => Promise<Result>): Promise<Result> {
      const { username, password, corsOrigin } = await findDeployedStage(stage);
      const session = new Session({ ...(await findAddress()), username, password, corsOrigin });
      try {
        return await use(new Catalog(session));
      } finally {
        session.close();
      }
    },
    async stop() {
      project.remove();
      await proxy.stop();
      await emulator.stop();
    },
    log: emulator.log,
  };
}

/** The physical ids of the resources of a type in the stack. */
export async function findResources(type: string): Promise<readonly string[]> {
  const { StackResources = [] } = await new CloudFormation().describeStackResources({ StackName });
  const found = StackResources.filter(({ ResourceType }) => ResourceType === type);
  return found.map(({ PhysicalResourceId = '' }) => PhysicalResourceId);
}
