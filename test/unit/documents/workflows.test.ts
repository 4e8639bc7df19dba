import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeTemporaryFolder } from '../../support/temporary-folder.ts';

const release = await readWorkflow('release');
const deployStage = await readWorkflow('deploy-stage');

/** What GitHub responds about a release: the commit of the branch main, how far it is behind the tag, and the runs of "Deploy". */
const gitHub = { ref: 'echo 9f8e', compare: 'echo 0', runs: 'echo 1' };

test.each([
  ['is deployed when its commit is on main and has passed "Deploy"', {}, 0],
  ['is refused when its commit has not passed "Deploy"', { runs: 'echo 0' }, 1],
  ['is refused when its commit is not on main', { compare: 'echo 2' }, 1],
  ['is refused when GitHub does not know main', { ref: 'echo "HTTP 404" >&2; exit 1' }, 1],
  ['is refused when GitHub cannot compare', { compare: 'exit 1' }, 1],
  ['is refused when GitHub cannot be asked for runs', { runs: 'echo "HTTP 503" >&2; exit 1' }, 1],
  ['is refused when GitHub responds with something else than a number', { runs: 'echo "Not Found"' }, 1],
])('a release %s', async (_, responses, code) => {
  const { ref, compare, runs } = { ...gitHub, ...responses };
  const gh = `case $2 in */git/ref/*) ${ref} ;; */compare/*) ${compare} ;; *) ${runs} ;; esac`;
  const { status, stdout, calls } = await runStep(release.jobs.passed.steps[0], { gh }, releaseOf('tags/v1.0.0'));

  expect([status, stdout.includes('v1.0.0 is not deployed')]).toEqual([code, code === 1]);
  // A tag may have the name of the branch, so that its commit counts and not its name.
  expect(calls).not.toContain('branch=');
  if (code === 0) {
    const requests = [
      'git/ref/heads/main --jq .object.sha',
      'compare/9f8e...0a1b --jq .ahead_by',
      'actions/workflows/deploy.yml/runs?status=success&head_sha=0a1b --jq .total_count',
    ];
    expect(calls).toBe(requests.map((request) => `gh api repos/owner/name/${request}\n`).join(''));
  }
  expect(release.jobs.prod.needs).toBe('passed');
});

// Whoever runs the workflow by hand selects a tag or a branch. Not every plan of GitHub limits the environment to tags.
test.each(['heads/main', 'heads/v1.0.0', 'tags/1.0.0'])(
  '%s is refused, because it is not a release tag',
  async (ref) => {
    const { status, stdout, calls } = await runStep(release.jobs.passed.steps[0], { gh: 'echo 1' }, releaseOf(ref));

    expect([status, stdout.includes('is not a release tag'), calls]).toEqual([1, true, '']);
  },
);

const rollback = 'npm run rollback -- --stage dev --timestamp 123\n';

const cancelUpdate = 'aws cloudformation cancel-update-stack --stack-name book-catalog-dev\n';

test.each([
  ['that runs is rolled back', 'exit 1', 'echo 456', cancelUpdate + rollback],
  ['that CloudFormation has taken back stays so', 'exit 1', 'echo 123', cancelUpdate],
  ['is rolled back when nobody knows what runs', 'exit 1', 'exit 1', cancelUpdate + rollback],
  ['that is still being deployed is rolled back by CloudFormation', '', 'echo 456', cancelUpdate],
])('after a failed or cancelled step, a version %s', async (_, aws, node, calls) => {
  const step = deployStage.jobs.deploy.steps.find(({ name }: { name?: string }) => name === 'Roll back');

  const result = await runStep(step, { aws, node, npm: '' }, { STAGE: 'dev', TIMESTAMP: '123' });

  expect(result.calls.replace(/^node .*\n/m, '')).toBe(calls);
  expect(result.status).toBe(0);
});

/** What GitHub tells the workflow of a release about a tag or a branch. */
function releaseOf(ref: string) {
  const name = ref.slice(ref.indexOf('/') + 1);
  return { GITHUB_REPOSITORY: 'owner/name', GITHUB_SHA: '0a1b', GITHUB_REF: `refs/${ref}`, GITHUB_REF_NAME: name };
}

async function readWorkflow(name: string) {
  return parse(await readFile(`.github/workflows/${name}.yml`, 'utf8'));
}

/**
 * Runs a step of a workflow as GitHub does.
 *
 * @param commands - scripts in place of commands, by name
 * @returns what bash returned, and the calls of these commands, one a line
 */
async function runStep(
  step: { readonly run: string },
  commands: Readonly<Record<string, string>>,
  settings: NodeJS.ProcessEnv,
) {
  const folder = await makeTemporaryFolder();
  const log = join(folder, 'calls');
  await writeFile(log, '');
  for (const [name, script] of Object.entries(commands)) {
    const text = `#!/bin/sh\necho "${name} $*" >> ${log}\n${script}\n`;
    await writeFile(join(folder, name), text, { mode: 0o755 });
  }
  const env = { PATH: `${folder}:${process.env.PATH}`, ...settings };
  const { status, stdout } = spawnSync('bash', ['-e', '-c', step.run], { env, encoding: 'utf8' });
  return { status, stdout, calls: await readFile(log, 'utf8') };
}
