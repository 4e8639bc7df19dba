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

/** Go is not installed. */
class NoGoError extends Error {
  override readonly name = 'NoGoError';
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof NoPythonError || error instanceof NoGoError)) throw error;
  process.stderr.write(`Not checked: ${error.message}\n`);
  process.exitCode = toolMissingExitCode;
}

async function main(): Promise<number> {
  const cfnLint = preparePython('.venv-aws', 'test/aws/emulator/requirements.txt')('cfn-lint');
  const checkov = preparePython('.venv-policy', '.ci/templates/requirements-policy.txt')('checkov');
  const actionlint = prepareActionlint(resolve('.go-tools'));
  const folder = mkdtempSync(join(tmpdir(), 'book-catalog-template-'));
  try {
    const results: boolean[] = [];
    for (const stage of ['dev', 'prod']) {
      await packageService(join(folder, stage), stage);
      const template = join(folder, stage, 'cloudformation-template-update-stack.json');
      results.push(run(`cfn-lint, ${stage}`, cfnLint, template));
      results.push(run(`checkov, ${stage}`, checkov, '--config-file', '.checkov.yaml', '--file', template));
    }
    const deployer = 'serverless/resources/deployer.yml';
    results.push(run('cfn-lint, deployer', cfnLint, deployer));
    results.push(run('checkov, deployer', checkov, '--config-file', '.checkov.yaml', '--file', deployer));
    results.push(run('actionlint', actionlint, ...globSync('.github/workflows/*.yml')));
    return results.every(Boolean) ? 0 : 1;
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

/** Installs actionlint unless it is installed. @returns its path */
function prepareActionlint(folder: string): string {
  const command = join(folder, actionlintVersion, 'actionlint');
  if (existsSync(command)) return command;
  const { status, error } = spawnSync(
    'go',
    ['install', `github.com/rhysd/actionlint/cmd/actionlint@${actionlintVersion}`],
    { stdio: 'inherit', env: { ...process.env, GOBIN: join(folder, actionlintVersion) } },
  );
  if (error) throw new NoGoError(`Go is needed for actionlint: ${error.message}`);
  if (status !== 0) throw new Error('Go could not install actionlint');
  return command;
}
