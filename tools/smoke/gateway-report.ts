import type { HttpResponse } from '../../conformance/http-client.ts';
import type { CaseResult } from '../../conformance/run-suite.ts';

const shownCharacters = 160;

/** Formats API Gateway's response to each question that some cases ask, in Markdown. */
export function formatGatewayReport(title: string, cases: readonly CaseResult[]): string {
  const sections = [...Map.groupBy(cases, ({ conformanceCase }) => conformanceCase.gatewayQuestion)].map(
    ([question, members]) => {
      const differing = members.filter(({ verdict }) => verdict !== 'passed').length;
      const verdict =
        differing === 0
          ? `As the local service, in all ${members.length} cases.`
          : `Otherwise than the local service in ${differing} of ${members.length} cases.`;
      return [`## ${question}`, '', verdict, '', ...members.flatMap(formatCase)].join('\n');
    },
  );
  return `${[`# ${title}`, ...sections].join('\n\n')}\n`;
}

function formatCase({ conformanceCase, verdict, responses, message }: CaseResult): string[] {
  return [
    `- ${verdict === 'passed' ? 'As expected' : 'DIFFERENT'}: ${conformanceCase.name}`,
    ...responses.map((response) => `  - ${formatResponse(response)}`),
    ...(responses.length === 0 ? [`  - no response: ${message}`] : []),
  ];
}

function formatResponse({ request, status, ...response }: HttpResponse): string {
  const { method, path, headers = {}, body } = request;
  const token = String(headers.Authorization ?? '');
  const sentToken = token === '' ? '' : ' with `Authorization`';
  const sentBody = body === undefined ? '' : ` with a body of ${Buffer.byteLength(body)} bytes`;
  const shown = ['content-type', 'x-amzn-errortype', 'retry-after', 'access-control-allow-origin'].flatMap(
    (name) => (response.headers[name] === undefined ? [] : [`${name}: ${response.headers[name]}`]),
  );
  const text = response.body.subarray(0, shownCharacters).toString();
  // API Gateway may quote malformed input.
  const hidden = (token === '' ? text : text.replaceAll(token, 'TOKEN')).replaceAll(/[`\s]+/g, ' ');
  return `\`${method} ${path}\`${sentToken}${sentBody}: ${status} (${shown.join('; ')}) \`${hidden}\``;
}
