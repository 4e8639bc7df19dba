import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const projectFolder = resolve(import.meta.dirname, '../../..');

interface Ended {
  readonly exitCode: number | null;
  /** What it printed about the failure. */
  readonly error: string;
}

/** Runs a command of the Serverless Framework without any settings of AWS's but those given. */
function serverless(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Ended {
  const { PATH, HOME = '/' } = process.env;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['node_modules/serverless/bin/serverless.js', ...args],
    {
      cwd: projectFolder,
      encoding: 'utf8',
      env: {
        PATH,
        HOME,
        AWS_EC2_METADATA_DISABLED: 'true',
        AWS_CONFIG_FILE: '/dev/null',
        AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
        ...environment,
      },
    },
  );
  // On standard error is only what was being done, and the versions of everything.
  const [label, ...message] = stdout.trim().split('\n');
  return { exitCode: status, error: label === 'Error:' ? message.join('\n') : stdout + stderr };
}

const credentials = { AWS_ACCESS_KEY_ID: 'wrong', AWS_SECRET_ACCESS_KEY: 'wrong' };

test.each(['deploy', 'package', 'remove'])(
  '%s of a stage that does not exist ends with one line',
  (command) => {
    const ended = serverless([command, '--stage', 'prdo', '--region', 'eu-west-1'], credentials);
    expect(ended.exitCode).toBe(1);
    expect(ended.error).toBe('There is no stage "prdo". The stages are prod, dev (serverless/stages.yml).');
  },
);

test.each(['deploy', 'remove'])('%s without a region ends with one line', (command) => {
  const ended = serverless([command, '--stage', 'prod'], credentials);
  expect(ended.exitCode).toBe(1);
  expect(ended.error).toBe('No region is given: set AWS_REGION, or add --region NAME.');
});

test.each(['deploy', 'remove'])('%s without credentials ends with one line', (command) => {
  const ended = serverless([command, '--stage', 'prod', '--region', 'eu-west-1']);
  expect(ended.exitCode).toBe(1);
  expect(ended.error).toMatch(/^AWS cannot be used with these credentials: .*credentials.*$/);
});

test('deploy to an AWS that cannot be reached ends with one line', () => {
  const ended = serverless(['deploy', '--stage', 'prod', '--region', 'eu-west-1'], {
    ...credentials,
    AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
  });
  expect(ended.exitCode).toBe(1);
  expect(ended.error).toMatch(/^AWS cannot be used with these credentials: .*ECONNREFUSED.*$/);
});

test('package with a Node for the code caches that is none ends with one line', () => {
  const ended = serverless(['package'], { CODE_CACHE_NODE: '/no/such/node' });
  expect(ended.exitCode).toBe(1);
  expect(ended.error).toBe('CODE_CACHE_NODE names no Node that runs here: /no/such/node');
});

test.each([
  ['domainName=api.example.com', 'domainName needs certificateArn, a certificate for that name.'],
  ['requestsPerAddress=5', 'requestsPerAddress has to be a whole number of requests per minute, 10 or more.'],
])('package with %s ends with one line', (parameter, message) => {
  const ended = serverless(['package', '--stage', 'dev', '--param', parameter]);
  expect(ended.exitCode).toBe(1);
  expect(ended.error).toBe(message);
});
