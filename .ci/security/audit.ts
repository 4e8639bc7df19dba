import { execFile, execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { readAuditReport, type Severity } from './audit-report.ts';

/** Far above the output of npm audit for all packages here. */
const maxOutputBytes = 64 * 1024 * 1024;

/** Findings, and checks that were not possible. */
export interface Findings {
  readonly found: readonly string[];
  readonly notChecked: readonly string[];
}

/** @returns the path of every package-lock.json that git knows, the product's first */
export function findLockFiles(): string[] {
  const files = execFileSync('git', ['ls-files', '-z', '--', ':(glob)**/package-lock.json'], {
    encoding: 'utf8',
  });
  return files
    .split('\0')
    .filter((name) => name !== '')
    .sort(byDepth);
}

/**
 * Asks the registry for known vulnerabilities of the packages in a lock file: all of deployed packages, high and critical
 * ones of tools.
 *
 * @param folder - the repository
 * @param lockFile - a path below it; `package-lock.json` is that of the product
 * @param options - further options of npm
 */
export async function auditLockFile(
  folder: string,
  lockFile: string,
  options: readonly string[] = [],
): Promise<Findings> {
  const audits: readonly (readonly [readonly string[], Severity])[] =
    lockFile === 'package-lock.json'
      ? [
          [['--omit=dev'], 'info'],
          [[], 'high'],
        ]
      : [[[], 'high']];
  const found = new Set<string>();
  const notChecked = new Set<string>();
  for (const [scope, lowest] of audits) {
    const output = await runAudit(join(folder, dirname(lockFile)), [...scope, ...options]);
    const result = readAuditReport(output, lowest);
    if (result.kind === 'unknown') notChecked.add(`${lockFile}: known vulnerabilities (${result.reason})`);
    if (result.kind === 'vulnerable') {
      for (const name of result.packages) found.add(`${lockFile}: vulnerable: ${name}`);
    }
  }
  return { found: [...found], notChecked: [...notChecked] };
}

/** @returns npm's standard output; its exit code is 1 for vulnerabilities and for failures */
function runAudit(cwd: string, options: readonly string[]): Promise<string> {
  return new Promise((done) => {
    const args = ['audit', '--json', '--package-lock-only', ...options];
    execFile('npm', args, { cwd, maxBuffer: maxOutputBytes }, (_error, stdout) => done(stdout));
  });
}

function byDepth(one: string, other: string): number {
  return one.split('/').length - other.split('/').length || (one < other ? -1 : 1);
}
