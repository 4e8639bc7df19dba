import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

test.each([
  ['is deployed', 1, 0],
  ['is refused', 0, 1],
])('a release %s after %i runs of the workflow "Deploy" on main with its commit', async (_, count, code) => {
  const folder = await makeTemporaryFolder();
  const calls = join(folder, 'calls');
  await writeFile(join(folder, 'gh'), `#!/bin/sh\necho "$@" > ${calls}\necho ${count}\n`, { mode: 0o755 });
  const { jobs } = parse(await readFile('.github/workflows/release.yml', 'utf8'));
  const github = { GITHUB_REPOSITORY: 'owner/name', GITHUB_SHA: '0a1b', GITHUB_REF_NAME: 'v1.0.0' };
  const env = { PATH: `${folder}:${process.env.PATH}`, ...github };

  const { status, stdout } = spawnSync('bash', ['-e', '-c', jobs.passed.steps[0].run], { env });

  expect([status, stdout.includes('v1.0.0 is not deployed')]).toEqual([code, code === 1]);
  const query = 'runs?branch=main&status=success&head_sha=0a1b --jq .total_count';
  expect(await readFile(calls, 'utf8')).toBe(`api repos/owner/name/actions/workflows/deploy.yml/${query}\n`);
  expect(jobs.prod.needs).toBe('passed');
});
