import http from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { close, listen } from '../support/loopback-server.ts';

/** What AWS sends in response to an action of a form. */
export const toXml = (action: string, content: string) =>
  `<${action}Response><${action}Result>${content}</${action}Result></${action}Response>`;

const refuse = (operation: string) =>
  `<ErrorResponse><Error><Code>ValidationError</Code><Message>The account refuses ${operation}</Message></Error></ErrorResponse>`;

/**
 * Plays the account 123456789012 for one test. It knows who calls and API Gateway's role for access logs, and refuses all else.
 *
 * @returns the environment of commands that use the account, and the operations that they have requested
 */
export async function startAccount(logsRole?: string) {
  const operations: string[] = [];
  const known: Readonly<Record<string, string>> = {
    GetCallerIdentity: toXml(
      'GetCallerIdentity',
      '<Account>123456789012</Account><Arn>arn:aws:iam::123456789012:user/a</Arn>',
    ),
    GetAccount: JSON.stringify({ cloudwatchRoleArn: logsRole }),
  };
  const server = http.createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    // A request of API Gateway's kind is not a form.
    const operation = request.url === '/account' ? 'GetAccount' : String(form.get('Action'));
    operations.push(operation);
    const content = known[operation];
    response.writeHead(content === undefined ? 400 : 200).end(content ?? refuse(operation));
  });
  const port = await listen(server);
  onTestFinished(() => close(server));
  const env = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  };
  return { env, operations };
}
