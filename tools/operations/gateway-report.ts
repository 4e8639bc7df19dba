import type { HttpResponse } from '../../conformance/http-messages.ts';
import type { CaseResult } from '../../conformance/run-suite.ts';

const shownCharacters = 160;
const shownHeaders = ['content-type', 'x-amzn-errortype', 'retry-after', 'access-control-allow-origin'];

/** Formats the responses of API Gateway in the cases that depend on it, in Markdown. */
export function formatGatewayReport(title: string, cases: readonly CaseResult[]): string {
  const sections = [...Map.groupBy(cases, ({ conformanceCase }) => conformanceCase.group)];
  const texts = sections.flatMap(([group, members]) => [`## ${group}`, members.flatMap(formatCase).join('\n')]);
  return [`# ${title}`, ...texts, ''].join('\n\n');
}

function formatCase({ conformanceCase, verdict, responses, message }: CaseResult): readonly string[] {
  const title = `- ${verdict === 'passed' ? 'As expected' : 'DIFFERENT'}: ${conformanceCase.name}`;
  const lines = responses.length > 0 ? responses.map(formatResponse) : [`no response: ${message}`];
  return [title, ...lines.map((line) => `  - ${line}`)];
}

function formatResponse({ request, status, ...response }: HttpResponse): string {
  const { method, path, headers = {}, body } = request;
  const token = String(headers.Authorization ?? '');
  const sentToken = token === '' ? '' : ' with `Authorization`';
  const sentBody = body === undefined ? '' : ` with a body of ${Buffer.byteLength(body)} bytes`;
  const shown = shownHeaders
    .filter((name) => name in response.headers)
    .map((name) => `${name}: ${response.headers[name]}`);
  const text = response.body.toString();
  // API Gateway may quote malformed input. A token is hidden before the cut, which would leave its beginning.
  const hidden = token === '' ? text : text.replaceAll(token, 'TOKEN');
  const line = hidden.slice(0, shownCharacters).replaceAll(/[`\s]+/g, ' ');
  return `\`${method} ${path}\`${sentToken}${sentBody}: ${status} (${shown.join('; ')}) \`${line}\``;
}
