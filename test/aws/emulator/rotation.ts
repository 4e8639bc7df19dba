import assert from 'node:assert/strict';
import { findDeployedStage } from '../../../tools/operations/deployed-stage.ts';
import { findBlocks } from './documents.ts';
import { type EmulatedStage, stage } from './emulated-stage.ts';

/** Rotates both secrets by the commands of docs/operations.md. */
export async function rotate({ run, runShell, runSuite }: EmulatedStage): Promise<void> {
  const { password } = await findDeployedStage(stage);
  const output = findBlocks('operations', 'Deploy the first time').find((block) => block.includes('output()')) ?? '';
  const [rotation = ''] = findBlocks('operations', 'Rotate the secrets');
  // The commands of npm run with the rights of the pipeline.
  await runShell(`${output}\n${rotation.replaceAll(/^ *npm run .*$/gm, '')}`);
  await run('deploy', '--force');
  assert.equal((await runSuite(['token-endpoint', 'authorization'])).status, 0);
  assert.notEqual((await findDeployedStage(stage)).password, password);
}
