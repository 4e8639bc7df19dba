import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const serverless = 'serverless/main.js';
const wrong = { AWS_ACCESS_KEY_ID: 'wrong', AWS_SECRET_ACCESS_KEY: 'wrong' };
const unreachable = { ...wrong, AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_MAX_ATTEMPTS: '1' };
const prod = '--stage prod --region eu-west-1';
const Prod = '--stage Prod --region eu-west-1';
const noStage = /^"Prod" cannot be the name of a stage\. It has to be .*\.$/;
const noRegion = 'No region is given: set AWS_REGION, or add --region NAME.';
const noCredentials = /^AWS cannot be used with these credentials: .*credentials.*$/;

test.each(['deploy', 'rollback', 'remove'])('npm run %s -- --help shows the options without AWS', async (command) => {
  const { PATH } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [serverless, command, '--help'], { env: { PATH } });

  expect(stdout).toMatch(/^--stage .*Stage of the service$/m);
});

test.each<[string, NodeJS.ProcessEnv, string | RegExp]>([
  [`${serverless} package ${Prod}`, wrong, noStage],
  [`tools/operations/smoke.ts ${Prod}`, {}, noStage],
  [`tools/operations/print-deployment.ts ${Prod}`, {}, noStage],
  [`${serverless} deploy --stage prod`, wrong, noRegion],
  [`${serverless} remove --stage prod`, wrong, noRegion],
  [`${serverless} rollback --stage prod`, wrong, noRegion],
  ['tools/operations/smoke.ts --stage prod', {}, noRegion],
  ['tools/operations/restore.ts --stage prod --table book-catalog-prod-1', {}, noRegion],
  [
    'tools/operations/restore.ts --stage alice --table book-catalog-alice-1 --region eu-west-1',
    wrong,
    'The books of alice are not kept. A restore is for a permanent stage.',
  ],
  [`${serverless} deploy ${prod}`, {}, noCredentials],
  [`${serverless} deploy ${prod}`, unreachable, /^AWS cannot be used with .*ECONNREFUSED.*$/],
  [`tools/operations/print-deployment.ts ${prod}`, {}, 'Could not load credentials from any providers'],
  [`tools/operations/smoke.ts ${prod}`, unreachable, /^The stack book-catalog-prod cannot be read: .*ECONNREFUSED/],
  [
    'tools/operations/smoke.ts --stage prod',
    { ...unreachable, AWS_DEFAULT_REGION: 'eu-west-1' },
    /^The stack book-catalog-prod cannot be read: .*ECONNREFUSED/,
  ],
  [`${serverless} package --param corsOrigin=*`, {}, /^corsOrigin has to be the origin of a web site, .*\.$/],
  [`${serverless} package --param corsOrgin=x`, {}, /^corsOrgin is not a parameter\. Parameters are .*\.$/],
])('%s with %j ends with what is wrong', async (command, settings, message) => {
  const { PATH, HOME = '/' } = process.env;
  const noFiles = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
  const env = { PATH, HOME, AWS_EC2_METADATA_DISABLED: 'true', ...noFiles, ...settings };

  const result = await new Promise((done) => {
    execFile(process.execPath, command.split(' '), { env }, (error, stdout, stderr) => {
      // The framework prints errors to standard output, under a label, and only progress to standard error.
      const printed = stdout.startsWith('Error:\n') ? stdout.slice('Error:\n'.length) : stderr;
      done({ exitCode: error?.code, message: printed.trim() });
    });
  });

  const expected = typeof message === 'string' ? message : expect.stringMatching(message);
  expect(result).toEqual({ exitCode: 1, message: expected });
});
