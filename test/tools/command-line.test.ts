import { spawnSync } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

function run(command: string, script: string, option: string) {
  const env = { PATH: process.env.PATH, npm_lifecycle_event: script, [`npm_config_${option}`]: 'true' };
  const options = { env, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, command.split(' '), options);
  return { status, stdout, stderr: stderr.split('\n')[0] };
}

// `npm run remove --stage=prod` would otherwise remove the stage dev.
test.each([
  ['serverless/main.js offline', 'start', 'port', 'npm start -- --port ...'],
  ['serverless/main.js remove', 'remove', 'stage', 'npm run remove -- --stage ...'],
])('%s ends before it does anything when npm took an option of it', (command, script, option, advice) => {
  const stderr = expect.stringMatching(/^npm took --\S+ for itself\. Write -- before the options: /);

  expect(run(command, script, option)).toEqual({ status: 2, stdout: '', stderr });
  expect(run(command, script, option).stderr).toContain(advice);
});

const conformance = 'conformance/main.ts --username u --password p';

test.each([
  ['conformance/main.ts --ful', expect.stringMatching(/^Unknown option '--ful'/)],
  ['conformance/main.ts', '--base-url, --username and the password, in BOOKS_PASSWORD or --password, are needed.'],
  [`${conformance} --base-url ftp://books.example`, 'ftp://books.example is not a URL with http:// or https://.'],
  [`${conformance} --base-url http://books.example --without book`, 'There is no group or case book.'],
  [`${conformance} --base-url http://books.example --token-lifetime 1m`, '1m is not a number of seconds.'],
  ['tools/operations/smoke.ts', '--stage is needed.'],
  ['tools/operations/restore.ts --stage prod', '--table is needed.'],
])('%s says what is wrong', (command, stderr) => {
  expect(run(command, '', '')).toEqual({ status: 2, stdout: '', stderr });
});

test.each([
  'conformance/main.ts',
  'tools/operations/smoke.ts',
  'tools/operations/restore.ts',
  'tools/openapi/generate.ts',
])('%s has help', (command) => {
  const stdout = expect.stringMatching(/^Usage: npm run /);
  expect(run(`${command} --help`, '', '')).toEqual({ status: 0, stdout, stderr: '' });
});

test.each(['20.19.6', '22.9.0', '22.21.1'])('the framework on Node %s says which one it needs', (version) => {
  const pretend = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'${version}'})`;

  const ended = run(`--import ${pretend} serverless/main.js`, '', '');

  expect(ended).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(/^Node \S+ or newer is needed;/) });
});

// With NODE_ENV=production, as in many images, `npm ci` leaves out the framework too.
test('the framework without its packages says what to run', async () => {
  const folder = await makeTemporaryFolder();
  await cp('serverless/main.js', join(folder, 'serverless/main.js'));
  await cp('package.json', join(folder, 'package.json'));

  const ended = run(join(folder, 'serverless/main.js'), '', '');

  expect(ended).toEqual({ status: 2, stdout: '', stderr: 'Run npm ci --include=dev first.' });
});
