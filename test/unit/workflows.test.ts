import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const readWorkflow = async (name: string) => parse(await readFile(`.github/workflows/${name}.yml`, 'utf8'));

describe('a release', () => {
  test.each([
    ['is deployed', 1, 0],
    ['is refused', 0, 1],
  ])(
    '%s when %i runs of the workflow "Deploy" on main with its commit have passed',
    async (_, count, code) => {
      const folder = await makeTemporaryFolder();
      const calls = join(folder, 'calls');
      await writeFile(join(folder, 'gh'), `#!/bin/sh\necho "$@" > ${calls}\necho ${count}\n`);
      await chmod(join(folder, 'gh'), 0o755);
      const { jobs } = await readWorkflow('release');
      const env = {
        PATH: `${folder}:${process.env.PATH}`,
        GITHUB_REPOSITORY: 'owner/name',
        GITHUB_SHA: '0a1b',
        GITHUB_REF_NAME: 'v1.0.0',
      };

      const run = promisify(execFile)('bash', ['-e', '-c', jobs.passed.steps[0].run], { env });
      const result = await run.catch((error) => error);

      expect(result.code ?? 0).toBe(code);
      expect(result.stdout.includes('v1.0.0 is not deployed')).toBe(code === 1);
      const query = 'runs?branch=main&status=success&head_sha=0a1b --jq .total_count';
      expect(await readFile(calls, 'utf8')).toBe(
        `api repos/owner/name/actions/workflows/deploy.yml/${query}\n`,
      );
      expect(jobs.prod.needs).toBe('passed');
    },
  );
});

test('a push to main is deployed to dev only, after all checks', async () => {
  const { jobs } = await readWorkflow('deploy');

  expect(jobs.check.uses).toBe('./.github/workflows/ci.yml');
  expect(jobs.dev).toMatchObject({ needs: 'check', with: { stage: 'dev' } });
  expect(Object.keys(jobs)).toEqual(['check', 'dev']);
});

test('only a failed smoke test rolls back: CloudFormation has rolled a failed deploy back by itself', async () => {
  const { jobs } = await readWorkflow('deploy-stage');

  const conditions = jobs.deploy.steps.flatMap((step: { if?: string }) => step.if ?? []);

  expect(conditions).toEqual([
    "failure() && steps.smoke.outcome == 'failure' && steps.before.outputs.timestamp != ''",
  ]);
});
