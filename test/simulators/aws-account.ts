import http from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { close, listen } from '../support/loopback-server.ts';

/** What an account holds that the checks of a deploy read. */
export interface Account {
  /** The outputs of the stage's stack; no stack when missing. */
  readonly outputs?: Readonly<Record<string, string>>;
  /** The parameters in Parameter Store, by their whole names. */
  readonly settings?: Readonly<Record<string, string>>;
  /** API Gateway's role for access logs. */
  readonly logsRole?: string;
  /** The texts of secrets by their ids, or the errors that AWS responds with instead. */
  readonly secrets?: Readonly<Record<string, string | { readonly __type: string; readonly message: string }>>;
}

/**
 * Plays the account 123456789012 for one test: its stack, settings and secrets, and nothing that changes them.
 *
 * @returns the environment of commands that use the account, and the operations that they have requested
 */
export async function startAccount(account: Account) {
  const operations: string[] = [];
  const server = http.createServer(async (request, response) => {
    const body = await text(request);
    const target = request.headers['x-amz-target'];
    const isAccount = request.url === '/account'; // a request of API Gateway's kind
    const action = isAccount ? 'GetAccount' : new URLSearchParams(body).get('Action');
    const operation = String(target ?? action).replace(/.*\./, '');
    operations.push(operation);
    const { status = 200, content } = respond(account, operation, target === undefined ? {} : JSON.parse(body));
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

type Input = Readonly<Record<string, unknown>>;

function respond(
  { outputs, settings = {}, secrets = {}, logsRole }: Account,
  operation: string,
  input: Input,
): Response {
  const toXml = (result: string) => ({
    content: `<${operation}Response><${operation}Result>${result}</${operation}Result></${operation}Response>`,
  });
  switch (operation) {
    case 'GetCallerIdentity':
      return toXml('<Account>123456789012</Account><Arn>arn:aws:iam::123456789012:user/anybody</Arn>');
    case 'GetAccount':
      return { content: JSON.stringify({ cloudwatchRoleArn: logsRole }) };
    case 'DescribeStacks': {
      const members = Object.entries(outputs ?? {}).map(
        ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
      );
      const stack = `<StackStatus>UPDATE_COMPLETE</StackStatus><Outputs>${members.join('')}</Outputs>`;
      return outputs === undefined
        ? refusal('Stack does not exist')
        : toXml(`<Stacks><member>${stack}</member></Stacks>`);
    }
    case 'GetParametersByPath': {
      const ofPath = Object.entries(settings).filter(([name]) => name.startsWith(`${input.Path}/`));
      return { content: JSON.stringify({ Parameters: ofPath.map(([Name, Value]) => ({ Name, Value })) }) };
    }
    case 'GetSecretValue': {
      const secret = secrets[String(input.SecretId)];
      const isError = typeof secret !== 'string';
      return { status: isError ? 400 : 200, content: JSON.stringify(isError ? secret : { SecretString: secret }) };
    }
    default:
      return refusal(`The account refuses ${operation}`);
  }
}

function refusal(message: string): Response {
  const error = `<Code>ValidationError</Code><Message>${message}</Message>`;
  return { status: 400, content: `<ErrorResponse><Error>${error}</Error></ErrorResponse>` };
}
