/**
 * `npm run verify:templates`: cfn-lint and a policy scan on the packaged templates, actionlint and zizmor on the workflows.
 * Exit code 77 without Python or Go.
 */

import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endForMissingTool } from '../../test/support/missing-tool.ts';
import { packageService } from '../../test/support/package-service.ts';
import { preparePython } from '../../test/support/python-environment.ts';

const actionlint = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';

process.exitCode = (await lint()) ? 0 : 1;

async function lint(): Promise<boolean> {
  const python = preparePython('.venv-templates', '.ci/templates/requirements.txt');
  const { error } = spawnSync('go', ['version']);
  if (error) endForMissingTool(`Not checked: ${error.message}`);
  const workflows = [
    run('actionlint', 'go', 'run', actionlint, ...globSync('.github/workflows/*.yml')),
    run('zizmor', python('zizmor'), '--quiet', '--offline', '--min-severity', 'medium', '.github'),
  ];
  const folder = mkdtempSync(join(tmpdir(), 'book-catalog-template-'));
  const templates = { deployer: 'serverless/resources/deployer.yml' } as Record<string, string>;
  try {
    for (const stage of ['dev', 'prod']) {
      await packageService(join(folder, stage), stage);
      templates[stage] = join(folder, stage, 'cloudformation-template-update-stack.json');
    }
    const results = Object.entries(templates).flatMap(([name, file]) => [
      run(`cfn-lint, ${name}`, python('cfn-lint'), file),
      run(`checkov, ${name}`, python('checkov'), '--config-file', '.checkov.yaml', '--file', file),
    ]);
    return [...workflows, ...results].every(Boolean);
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
