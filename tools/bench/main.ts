/** `npm run bench`: reads the options before it installs what the benchmarks need, and measures on one core. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { readBenchOptions } from './options.ts';

readBenchOptions();
const { status } = spawnSync(join(import.meta.dirname, 'run'), process.argv.slice(2), { stdio: 'inherit' });
process.exitCode = status ?? 1;
