import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

const leftOut = /^(node_modules|\..*)$/;

/**
 * Copies this project, and adds the function `countNothing`, which a schedule invokes and no request.
 *
 * @returns its folder, and what removes it
 */
export function copyWithScheduledFunction() {
  const folder = mkdtempSync(join(tmpdir(), 'book-catalog-copy-'));
  cpSync('.', folder, { recursive: true, filter: (source) => source === '.' || !leftOut.test(basename(source)) });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const file = join(folder, 'serverless.yml');
  const definition = '  countNothing: { handler: handlers/count-nothing.handler, events: [{ schedule: rate(1 day) }] }';
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^functions:.*$/m, `functions:\n${definition}`));
  writeFileSync(join(folder, 'handlers/count-nothing.ts'), 'export const handler = async () => 0;\n');
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
