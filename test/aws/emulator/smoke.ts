/** `npm run smoke` of a project on the emulator: the same, at the address that the stage has there. */

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { findEmulatedStage, notEmulated } from './emulated-stage.ts';

const { values } = parseArgs({ options: { stage: { type: 'string', default: '' } } });
const { baseUrl, hostHeader } = await findEmulatedStage(values.stage);
const without = notEmulated.flatMap((name) => ['--without', name]);
const args = ['--stage', values.stage, '--base-url', baseUrl, '--host-header', hostHeader, ...without];
process.exitCode =
  spawnSync(process.execPath, ['tools/smoke/main.ts', ...args], { stdio: 'inherit' }).status ?? 1;
