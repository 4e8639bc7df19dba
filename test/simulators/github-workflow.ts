import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { parse } from 'yaml';
import { runCommand } from '../support/run-command.ts';

type Texts = Readonly<Record<string, string>>;
type Step = Partial<Record<'id' | 'name' | 'if' | 'uses' | 'run', string> & Record<'with' | 'env', Texts>>;
type Job = { readonly env: Texts; readonly steps: readonly Step[] };

/** A run of a workflow. Its environment has the credentials that an action would have got. */
type WorkflowRun = Readonly<
  Record<'inputs' | 'vars', Texts> & { folder: string; environment: NodeJS.ProcessEnv }
>;

/**
 * Runs the shell commands of .github/workflows/deploy-stage.yml as GitHub does.
 *
 * @returns the names of the steps that ran, and whether all of them succeeded
 */
export async function runDeployWorkflow(run: WorkflowRun): Promise<{ steps: string[]; passed: boolean }> {
  const file = readFileSync(join(run.folder, '.github/workflows/deploy-stage.yml'), 'utf8');
  const job: Job = parse(file).jobs.deploy;
  const files = mkdtempSync(join(tmpdir(), 'workflow-'));
  const outputs: Record<string, Texts> = {};
  let environment = run.environment;
  let passed = true;
  const ran: string[] = [];
  const evaluate = (expression: string): unknown =>
    runInNewContext(expression, {
      failure: () => !passed,
      inputs: emptyWhereUnset(run.inputs),
      vars: emptyWhereUnset(run.vars),
      steps: new Proxy({}, { get: (_, id: string) => ({ outputs: emptyWhereUnset(outputs[id] ?? {}) }) }),
    });
  const fill = (text: string): string =>
    text.replaceAll(/\$\{\{(.*?)\}\}/g, (_, expression: string) => String(evaluate(expression)));
  const fillAll = (texts: Texts = {}) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]));

  for (const step of job.steps) {
    if (!(step.if === undefined ? passed : evaluate(step.if))) continue;
    for (const [name, value] of Object.entries(step.with ?? {})) {
      assert.notEqual(fill(String(value)), '', `${step.uses} gets nothing for ${name}`);
    }
    // The packages are there already.
    if (step.run === undefined || step.run === 'npm ci') continue;
    ran.push(step.name ?? step.run);
    const [output, env] = ['output', 'env'].map((name) => join(files, name)) as [string, string];
    for (const each of [output, env]) writeFileSync(each, '');
    const { status } = await runCommand('bash', ['-e', '-c', fill(step.run)], run.folder, {
      ...environment,
      ...fillAll(job.env),
      ...fillAll(step.env),
      GITHUB_OUTPUT: output,
      GITHUB_ENV: env,
    });
    if (step.id !== undefined) outputs[step.id] = readAssignments(output);
    environment = { ...environment, ...readAssignments(env) };
    passed &&= status === 0;
  }
  rmSync(files, { recursive: true });
  return { steps: ran, passed };
}

/** To GitHub, a name without a value is the empty text. */
function emptyWhereUnset(values: Texts) {
  return new Proxy(values, { get: (target, name: string) => target[name] ?? '' });
}

function readAssignments(file: string): Texts {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)));
}
