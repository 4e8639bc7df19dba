import { expect, test } from 'vitest';
import { readAuditReport } from '../../../.ci/security/audit-report.ts';

const report = (vulnerabilities: object) => JSON.stringify({ auditReportVersion: 2, vulnerabilities });

test('a report without vulnerabilities is clean', () => {
  expect(readAuditReport(report({}), 'info')).toEqual({ kind: 'clean' });
});

test('vulnerabilities count from the given severity up', () => {
  const output = report({
    a: { severity: 'moderate' },
    b: { severity: 'high' },
    c: { severity: 'critical' },
  });

  expect(readAuditReport(output, 'high')).toEqual({
    kind: 'vulnerable',
    packages: ['b (high)', 'c (critical)'],
  });
  expect(readAuditReport(report({ a: { severity: 'moderate' } }), 'high')).toEqual({ kind: 'clean' });
});

test.each([
  ['{"message":"405 Method Not Allowed","statusCode":405}', '405 Method Not Allowed'],
  ['', 'npm audit gave no report'],
  ['no JSON', 'npm audit gave no report'],
])('the output %j says nothing about vulnerabilities', (output, reason) => {
  expect(readAuditReport(output, 'info')).toEqual({ kind: 'unknown', reason });
});
