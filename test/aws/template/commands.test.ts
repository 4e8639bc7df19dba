import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const cwd = resolve(import.meta.dirname, '../../..');
const credentials = { AWS_ACCESS_KEY_ID: 'wrong', AWS_SECRET_ACCESS_KEY: 'wrong' };
const prod = '--stage prod --region eu-west-1';

/** Runs a command of the framework without any settings of AWS's but those given; gives its exit code and the error that it prints. */
async function runServerless(args: string, settings: NodeJS.ProcessEnv) {
  const { PATH, HOME = '/' } = process.env;
  const noFile = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
  const env = { PATH, HOME, AWS_EC2_METADATA_DISABLED: 'true', ...noFile, ...settings };
  const command = ['node_modules/serverless/bin/serverless.js', ...args.split(' ')];
  return new Promise((done) => {
    execFile(process.execPath, command, { cwd, env }, (error, stdout, stderr) => {
      // Standard error has only progress and versions.
      const [label, ...message] = stdout.trim().split('\n');
      done({ exitCode: error?.code, error: label === 'Error:' ? message.join('\n') : stdout + stderr });
    });
  });
}

const noStage = 'There is no stage "prdo". The stages are prod, dev (serverless/stages.yml).';
const noRegion = 'No region is given: set AWS_REGION, or add --region NAME.';
const unusable = (reason: string) =>
  expect.stringMatching(
    new RegExp(`^AWS cannot be used with these credentials: [^\\n]*${reason}[^\\n]*$`),
  ) as string;

test.each<[string, NodeJS.ProcessEnv, string]>([
  ['deploy --stage prdo --region eu-west-1', credentials, noStage],
  ['package --stage prdo --region eu-west-1', credentials, noStage],
  ['remove --stage prdo --region eu-west-1', credentials, noStage],
  ['deploy --stage prod', credentials, noRegion],
  ['remove --stage prod', credentials, noRegion],
  [`deploy ${prod}`, {}, unusable('credentials')],
  [`remove ${prod}`, {}, unusable('credentials')],
  [`deploy ${prod}`, { ...credentials, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }, unusable('ECONNREFUSED')],
  [
    'package',
    { CODE_CACHE_NODE: '/no/such/node' },
    'CODE_CACHE_NODE names no Node that runs here: /no/such/node',
  ],
  [
    'package --stage dev --param domainName=api.example.com',
    {},
    'domainName needs certificateArn, a certificate for that name.',
  ],
  [
    'package --stage dev --param requestsPerAddress=5',
    {},
    'requestsPerAddress has to be a whole number of requests per minute, 10 or more.',
  ],
])('%s with %j ends with one line', async (args, settings, error) => {
  expect(await runServerless(args, settings)).toEqual({ exitCode: 1, error });
});

const noStageFoo = 'There is no stage "foo". The stages are prod, dev (serverless/stages.yml).';
const unreadable = expect.stringMatching(
  /^The stack book-catalog-prod cannot be read: .*ECONNREFUSED/,
) as string;
const unreachable = { ...credentials, AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_MAX_ATTEMPTS: '1' };

test.each<[string, NodeJS.ProcessEnv, number, string]>([
  ['tools/smoke/main.ts --stage foo --region eu-west-1', {}, 1, noStageFoo],
  ['tools/drill/main.ts --stage foo --region eu-west-1', {}, 1, noStageFoo],
  ['serverless/deploy/deployed.ts --stage foo --region eu-west-1', {}, 1, noStageFoo],
  ['tools/smoke/main.ts --stage prod', {}, 1, noRegion],
  ['tools/restore/main.ts --stage prod --at 2026-01-31T12:00:00Z', {}, 1, noRegion],
  ['tools/smoke/main.ts --stage prod', { ...unreachable, AWS_DEFAULT_REGION: 'eu-west-1' }, 1, unreadable],
  [
    'tools/restore/main.ts --stage prod --at 2026-01-31T12:00:00',
    {},
    2,
    '--at 2026-01-31T12:00:00 is not a past moment with a time zone, like 2026-01-31T12:00:00Z.\n' +
      '--help shows all options.',
  ],
])('%s with %j ends with %i and what is wrong', async (command, settings, exitCode, message) => {
  const { PATH, HOME = '/' } = process.env;
  const env = { PATH, HOME, ...settings };
  const result = await new Promise((done) => {
    execFile(process.execPath, command.split(' '), { cwd, env }, (error, _, stderr) =>
      done({ exitCode: error?.code, message: stderr.trim() }),
    );
  });
  expect(result).toEqual({ exitCode, message });
});
