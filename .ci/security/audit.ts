import { execFile, execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';

/** Far more than npm audit writes about all packages here. */
const maxOutputBytes = 64 * 1024 * 1024;

const severities = ['info', 'low', 'moderate', 'high', 'critical'];

/** The output of `npm audit --json`: a report, or why there is none. */
interface AuditOutput {
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>;
  readonly message?: string;
}

/** What was found, and what could not be checked. */
export interface Findings {
  readonly found: readonly string[];
  readonly notChecked: readonly string[];
}

/** Finds the paths of every package-lock.json that git knows, the product's first. */
export function findLockFiles(): string[] {
  const args = ['ls-files', '-z', '--', ':(glob)**/package-lock.json'];
  const files = execFileSync('git', args, { encoding: 'utf8' }).split('\0').filter(Boolean);
  return files.toSorted((one, other) => one.split('/').length - other.split('/').length);
}

/**
 * Asks the registry for known vulnerabilities of the packages in a lock file: any in what is deployed, and those that are
 * high or critical in tools.
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
  const audits: [scope: string[], lowest: string][] = [[[], 'high']];
  if (lockFile === 'package-lock.json') audits.unshift([['--omit=dev'], 'info']);
  const found = new Set<string>();
  const notChecked = new Set<string>();
  for (const [scope, lowest] of audits) {
    const output = await runAudit(join(folder, dirname(lockFile)), [...scope, ...options]);
    const packages = readVulnerablePackages(output, lowest);
    if (typeof packages === 'string') notChecked.add(`${lockFile}: known vulnerabilities (${packages})`);
    else for (const name of packages) found.add(`${lockFile}: vulnerable: ${name}`);
  }
  return { found: [...found], notChecked: [...notChecked] };
}

/**
 * Reads the output of `npm audit --json`.
 *
 * @param lowest - the lowest severity that counts
 * @returns the vulnerable packages; a text says why they are unknown: the registry has no audit endpoint, or cannot be reached
 */
export function readVulnerablePackages(output: string, lowest: string): readonly string[] | string {
  let report: AuditOutput = {};
  try {
    report = JSON.parse(output);
  } catch {
    // no report
  }
  if (report.vulnerabilities === undefined) return report.message ?? 'npm audit gave no report';
  return Object.entries(report.vulnerabilities)
    .filter(([, { severity }]) => severities.indexOf(severity) >= severities.indexOf(lowest))
    .map(([name, { severity }]) => `${name} (${severity})`);
}

/** Gives the standard output of npm; its exit code is 1 for vulnerabilities and for failures alike. */
function runAudit(cwd: string, options: readonly string[]): Promise<string> {
  const args = ['audit', '--json', '--package-lock-only', ...options];
  return new Promise((done) => {
    execFile('npm', args, { cwd, maxBuffer: maxOutputBytes }, (_error, stdout) => done(stdout));
  });
}

/**
 * Sums findings up: the lines to print, and the exit code, which is 1 with findings, 77 when something was not checked, and
 * otherwise 0.
 */
export function conclude(results: readonly Findings[]): {
  readonly lines: readonly string[];
  readonly exitCode: number;
} {
  const found = results.flatMap((result) => result.found);
  const notChecked = results.flatMap((result) => result.notChecked);
  const lines = [...found, ...notChecked.map((line) => `NOT checked: ${line}`)];
  if (found.length > 0) return { lines: [...lines, `${found.length} found.`], exitCode: 1 };
  if (notChecked.length > 0) return { lines: [...lines, 'Not everything was checked.'], exitCode: 77 };
  return { lines: ['Nothing found.'], exitCode: 0 };
}
