/**
 * `npm run verify:templates`: cfn-lint and a policy scan on the packaged templates, actionlint on the workflows. Exit code
 * 77 without Python or Go.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { packageService } from '../../test/support/package-service.ts';
import { NoPythonError, preparePython } from '../../test/support/python-environment.ts';

const actionlintVersion = 'v1.7.12';
const toolMissingExitCode = 77;

/** There is no Go here. */
class NoGoError extends Error {
  override readonly name = 'NoGoError';
}

try {
  process.exitCode = (await lint()) ? 0 : 1;
} catch (error) {
  if (!(error instanceof NoPythonError || error instanceof NoGoError)) throw error;
  process.stderr.write(`Not checked: ${error.message}\n`);
  process.exitCode = toolMissingExitCode;
}

async function lint(): Promise<boolean> {
  const cfnLint = preparePython('.venv-aws', 'test/aws/emulator/requirements.txt')('cfn-lint');
  const checkov = preparePython('.venv-policy', '.ci/templates/requirements-policy.txt')('checkov');
  const actionlint = prepareActionlint();
  const folder = mkdtempSync(join(tmpdir(), 'book-catalog-template-'));
  const templates = { deployer: 'serverless/resources/deployer.yml' } as Record<string, string>;
  try {
    for (const stage of ['dev', 'prod']) {
      await packageService(join(folder, stage), stage);
      templates[stage] = join(folder, stage, 'cloudformation-template-update-stack.json');
    }
    const results = Object.entries(templates).flatMap(([name, file]) => [
      run(`cfn-lint, ${name}`, cfnLint, file),
      run(`checkov, ${name}`, checkov, '--config-file', '.checkov.yaml', '--file', file),
    ]);
    results.push(run('actionlint', actionlint, ...globSync('.github/workflows/*.yml')));
    return results.every(Boolean);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(title: string, command: string, ...args: readonly string[]): boolean {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error) throw error;
  process.stdout.write(`${title}: ${status === 0 ? 'no findings' : 'FINDINGS, above'}\n`);
  return status === 0;
}

/** Installs actionlint, unless it is there, and gives its path. */
function prepareActionlint(): string {
  const folder = resolve('.go-tools', actionlintVersion);
  const command = join(folder, 'actionlint');
  if (existsSync(command)) return command;
  const module = `github.com/rhysd/actionlint/cmd/actionlint@${actionlintVersion}`;
  const env = { ...process.env, GOBIN: folder };
  const { status, error } = spawnSync('go', ['install', module], { stdio: 'inherit', env });
  if (error) throw new NoGoError(`Go is needed for actionlint: ${error.message}`);
  if (status !== 0) throw new Error('Go could not install actionlint');
  return command;
}
