import type { Exchange } from '../../test/conformance/context.ts';
import type { GatewayCase } from '../../test/conformance/run-suite.ts';

const shownCharacters = 160;

/**
 * Formats API Gateway's response to each question.
 *
 * @param title - the first line
 * @param cases - the cases that ask the questions
 * @returns the report, in Markdown
 */
export function formatGatewayReport(title: string, cases: readonly GatewayCase[]): string {
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

function formatCase({ conformanceCase, verdict, exchanges }: GatewayCase): string[] {
  return [
    `- ${verdict === 'passed' ? 'As expected' : 'DIFFERENT'}: ${conformanceCase.name}`,
    ...exchanges.map((exchange) => `  - ${formatExchange(exchange)}`),
  ];
}

function formatExchange({ request, result }: Exchange): string {
  const { method, path, headers = {}, body } = request;
  const sent = [
    `\`${method} ${path}\``,
    ...(headers.Authorization === undefined ? [] : ['with `Authorization`']),
    ...(body === undefined ? [] : [`with a body of ${Buffer.byteLength(body)} bytes`]),
  ].join(' ');
  if (result instanceof Error) return `${sent}: no response: ${result.message}`;
  const shown = ['content-type', 'x-amzn-errortype', 'retry-after', 'access-control-allow-origin'].flatMap(
    (name) => (result.headers[name] === undefined ? [] : [`${name}: ${result.headers[name]}`]),
  );
  const text = hide(String(headers.Authorization ?? ''), result.body.subarray(0, shownCharacters).toString());
  return `${sent}: ${result.status} (${shown.join('; ')}) \`${text.replaceAll(/[`\s]+/g, ' ')}\``;
}

/** API Gateway may quote malformed input. */
function hide(token: string, text: string): string {
  return token !== '' ? text.replaceAll(token, 'TOKEN') : text;
}
