/** The result of `npm audit --json`. */
export type AuditResult =
  | { readonly kind: 'clean' }
  | { readonly kind: 'vulnerable'; readonly packages: readonly string[] }
  /** The registry has no audit endpoint, or cannot be reached. */
  | { readonly kind: 'unknown'; readonly reason: string };

const severities = ['info', 'low', 'moderate', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

interface AuditReport {
  readonly vulnerabilities: Readonly<Record<string, { readonly severity: Severity }>>;
}

/**
 * Reads the output of `npm audit --json`.
 *
 * @param output - its standard output
 * @param lowest - the lowest severity that counts
 */
export function readAuditReport(output: string, lowest: Severity): AuditResult {
  const report = parse(output);
  if (!isReport(report)) return { kind: 'unknown', reason: report?.message ?? 'npm audit gave no report' };
  const packages = Object.entries(report.vulnerabilities)
    .filter(([, { severity }]) => severities.indexOf(severity) >= severities.indexOf(lowest))
    .map(([name, { severity }]) => `${name} (${severity})`);
  return packages.length === 0 ? { kind: 'clean' } : { kind: 'vulnerable', packages };
}

function parse(output: string): AuditReport | { readonly message?: string } | undefined {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}

function isReport(report: AuditReport | { readonly message?: string } | undefined): report is AuditReport {
  return report !== undefined && 'vulnerabilities' in report;
}
