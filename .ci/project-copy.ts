import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** A copy of the project, in which a check changes files and runs commands. */
export class ProjectCopy {
  /** A folder for files outside of the copy. */
  readonly folder = mkdtempSync(join(tmpdir(), 'book-catalog-copy-'));
  readonly path = join(this.folder, 'copy');

  constructor() {
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' });
    for (const file of files.trim().split('\n')) {
      cpSync(file, join(this.path, file));
    }
    for (const name of ['node_modules', 'tools/node_modules']) symlinkSync(resolve(name), join(this.path, name));
  }

  read(file: string): string {
    return readFileSync(join(this.path, file), 'utf8');
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.path, file), text);
  }

  /** Replaces what is found first. It has to be there. */
  edit(file: string, pattern: RegExp | string, replace: (found: string) => string): void {
    const before = this.read(file);
    const after = before.replace(pattern, replace);
    assert.notEqual(after, before, `${file} has no ${pattern}`);
    this.write(file, after);
  }

  /** Runs a script of package.json, which has to succeed. */
  run(script: string): void {
    console.log(`--- npm run ${script}`);
    execFileSync('npm', ['run', '--silent', script], { cwd: this.path, stdio: 'inherit' });
  }

  /** Runs a command that has to fail. @returns its output */
  fail(command: string, args: readonly string[]): string {
    const env = { ...process.env, NO_COLOR: '1' };
    const result = spawnSync(command, args, { cwd: this.path, encoding: 'utf8', env });
    assert.equal(result.status === 0, false, `${command} ${args.join(' ')} has to fail`);
    return result.stdout + result.stderr;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The indented lines of CONTRIBUTING.md that begin like this, without their indentation. */
export function linesOfContributing(start: string): string {
  const lines = readFileSync('CONTRIBUTING.md', 'utf8').match(new RegExp(`^ {7}${start}.*\n`, 'gm')) ?? [];
  return lines.join('').replaceAll(/^ {7}/gm, '');
}
