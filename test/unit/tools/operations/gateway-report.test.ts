import { expect, test } from 'vitest';
import type { HttpResponse } from '../../../../conformance/http-messages.ts';
import { formatGatewayReport } from '../../../../tools/operations/gateway-report.ts';

const token = `eyJhbGciOiJIUzI1NiJ9.${'a'.repeat(40)}.${'b'.repeat(43)}`;

// API Gateway quotes a header that it takes for a malformed signature. The report is for others to read.
test.each([
  ['alone', '', ''],
  ['in the middle', `{"message":"'`, `' not a valid key=value pair"}`],
  ['across the end of what is shown', 'x'.repeat(120), ''],
])('a response that quotes the token %s is reported without it', (_, before, after) => {
  const request = { method: 'GET', path: '/nowhere', headers: { Authorization: token } };
  const body = Buffer.from(before + token + after);
  const response = { request, status: 403, headers: {}, body } as unknown as HttpResponse;
  const conformanceCase = { group: 'unknown-paths', name: 'a case' };
  const result = { conformanceCase, verdict: 'failed', responses: [response], message: '' };

  const report = formatGatewayReport('API Gateway', [result] as never);

  expect(report).toContain(`403 () \`${before}TOKEN${after}\``);
  expect(report).not.toContain('eyJ');
});
