/**
 * `node tools/scaling/main.ts`: works out the table of docs/scaling.md anew and prints it. Exit code 1 when the document has
 * another one.
 */

import { readFile } from 'node:fs/promises';
import { simulateSaturation } from './saturation.ts';

const table = simulateSaturation();
console.log(table);
if (!(await readFile('docs/scaling.md', 'utf8')).includes(table)) {
  console.error('\ndocs/scaling.md has another table.');
  process.exitCode = 1;
}
