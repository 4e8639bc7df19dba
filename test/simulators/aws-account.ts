import http from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { close, listen } from '../support/loopback-server.ts';

/** What an account holds that a deploy reads before it asks CloudFormation. */
export interface Account {
  /** API Gateway's role for access logs. */
  readonly logsRole?: string;
}

/**
 * Plays the account 123456789012 for one test, which refuses what is not said here.
 *
 * @returns the environment of commands that use the account, and the operations that they have requested
 */
export async function startAccount(account: Account) {
  const operations: string[] = [];
  const server = http.createServer(async (request, response) => {
    const body = await text(request);
    const isAccount = request.url === '/account'; // a request of API Gateway's kind
    const action = isAccount ? 'GetAccount' : new URLSearchParams(body).get('Action');
    const operation = String(action);
    operations.push(operation);
    const { status = 200, content } = respond(account, operation);
    response.writeHead(status).end(content);
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

interface Response {
  readonly status?: number;
  readonly content: string;
}

function respond({ logsRole }: Account, operation: string): Response {
  switch (operation) {
    case 'GetCallerIdentity': {
      const result = '<Account>123456789012</Account><Arn>arn:aws:iam::123456789012:user/anybody</Arn>';
      return {
        content: `<${operation}Response><${operation}Result>${result}</${operation}Result></${operation}Response>`,
      };
    }
    case 'GetAccount':
      return { content: JSON.stringify({ cloudwatchRoleArn: logsRole }) };
    default:
      return refusal(`The account refuses ${operation}`);
  }
}

function refusal(message: string): Response {
  const error = `<Code>ValidationError</Code><Message>${message}</Message>`;
  return { status: 400, content: `<ErrorResponse><Error>${error}</Error></ErrorResponse>` };
}
