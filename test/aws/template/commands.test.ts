import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const serverless = 'serverless/main.ts';
const wrong = { AWS_ACCESS_KEY_ID: 'wrong', AWS_SECRET_ACCESS_KEY: 'wrong' };
const unreachable = { ...wrong, AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_MAX_ATTEMPTS: '1' };
const prod = '--stage prod --region eu-west-1';
const prdo = '--stage prdo --region eu-west-1';
const noStage = 'There is no stage "prdo". The stages are prod, dev (serverless/stages.yml).';
const noRegion = 'No region is given: set AWS_REGION, or add --region NAME.';
const noCredentials = /^AWS cannot be used with these credentials: .*credentials.*$/;
const noZone =
  '--at 2026-01-31T12:00:00 is not a past moment with a time zone, like 2026-01-31T12:00:00Z.\n--help shows all options.';

test.each<[string, NodeJS.ProcessEnv, number, string | RegExp]>([
  [`${serverless} deploy ${prdo}`, wrong, 1, noStage],
  [`${serverless} package ${prdo}`, wrong, 1, noStage],
  [`${serverless} remove ${prdo}`, wrong, 1, noStage],
  [`tools/smoke/main.ts ${prdo}`, {}, 1, noStage],
  [`tools/drill/main.ts ${prdo}`, {}, 1, noStage],
  [`serverless/deploy/deployed.ts ${prdo}`, {}, 1, noStage],
  [`${serverless} deploy --stage prod`, wrong, 1, noRegion],
  [`${serverless} remove --stage prod`, wrong, 1, noRegion],
  ['tools/smoke/main.ts --stage prod', {}, 1, noRegion],
  ['tools/restore/main.ts --stage prod --at 2026-01-31T12:00:00Z', {}, 1, noRegion],
  [`${serverless} deploy ${prod}`, {}, 1, noCredentials],
  [`${serverless} remove ${prod}`, {}, 1, noCredentials],
  [`${serverless} deploy ${prod}`, unreachable, 1, /^AWS cannot be used with .*ECONNREFUSED.*$/],
  [
    `tools/smoke/main.ts ${prod}`,
    unreachable,
    1,
    /^The stack book-catalog-prod cannot be read: .*ECONNREFUSED/,
  ],
  [
    `${serverless} package`,
    { CODE_CACHE_NODE: '/no/such/node' },
    1,
    'CODE_CACHE_NODE names no Node that runs here: /no/such/node',
  ],
  [
    `${serverless} package --stage dev --param domainName=api.example.com`,
    {},
    1,
    'domainName needs certificateArn, a certificate for that name.',
  ],
  ['tools/restore/main.ts --stage prod --at 2026-01-31T12:00:00', {}, 2, noZone],
])('%s with %j ends with exit code %i and what is wrong', async (command, settings, exitCode, message) => {
  const { PATH, HOME = '/' } = process.env;
  const noFiles = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
  const env = { PATH, HOME, AWS_EC2_METADATA_DISABLED: 'true', ...noFiles, ...settings };
  const cwd = resolve(import.meta.dirname, '../../..');

  const result = await new Promise((done) => {
    execFile(process.execPath, command.split(' '), { cwd, env }, (error, stdout, stderr) => {
      // The framework prints errors to standard output, under a label, and only progress to standard error.
      const printed = stdout.startsWith('Error:\n') ? stdout.slice('Error:\n'.length) : stderr;
      done({ exitCode: error?.code, message: printed.trim() });
    });
  });

  expect(result).toEqual({
    exitCode,
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  });
});
