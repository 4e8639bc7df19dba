import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';

/** Far more than npm audit writes about all packages here. */
const maxOutputBytes = 64 * 1024 * 1024;

const severities = ['info', 'low', 'moderate', 'high', 'critical'];

/** What was found, and what could not be checked. */
export interface Findings {
  readonly found: readonly string[];
  readonly notChecked: readonly string[];
}

/**
 * Asks the registry for known vulnerabilities of the packages in a lock file: any in what is deployed, and those that are
 * high or critical in tools. `options` are further options of npm.
 */
export async function auditLockFile(
  folder: string,
  lockFile: string,
  ...options: string[]
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

/** Reads the packages with a vulnerability of at least that severity; a text says why they are unknown. */
function readVulnerablePackages(output: string, lowest: string): readonly string[] | string {
  const report: { vulnerabilities?: Record<string, { severity: string }>; message?: string } =
    output.startsWith('{') ? JSON.parse(output) : {};
  const { vulnerabilities, message = 'npm audit gave no report' } = report;
  if (vulnerabilities === undefined) return message;
  return Object.entries(vulnerabilities)
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

/** 1 with findings, 77 when something was not checked, otherwise 0. */
export function exitCodeOf({ found, notChecked }: Findings): number {
  if (found.length > 0) return 1;
  return notChecked.length > 0 ? 77 : 0;
}
