import { startFaultyGateway } from '../fakes/faulty-gateway.ts';

/** The stack that the stub describes. */
interface StubbedStack {
  readonly outputs: Record<string, string>;
  /** The requests to CloudFormation. */
  readonly requests: URLSearchParams[];
}

/** What AWS sends in response to an action of a form. */
const toXml = (action: string, content: string) =>
  `<${action}Response><${action}Result>${content}</${action}Result></${action}Response>`;

const toMembers = (entries: readonly string[]) => entries.map((entry) => `<member>${entry}</member>`).join('');

/** Responses of DynamoDB to what the embedded engine cannot do. */
const ofDynamoDB: Readonly<Record<string, object>> = {
  UpdateContinuousBackups: {},
  DescribeTimeToLive: { TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } },
  UpdateTimeToLive: {},
  TagResource: {},
  UpdateTable: {},
};

/**
 * Starts a stub of the parts of AWS that commands of operators use: a stack with outputs, whose table a change set
 * replaces. The table itself is that of the embedded engine.
 *
 * @param endpoint - of the engine
 * @returns the environment of a command, and the stack
 */
export async function startStubbedAws(endpoint: string, table: string) {
  const stack: StubbedStack = {
    outputs: { ServiceEndpoint: 'https://example.com/prod', BookTableName: table },
    requests: [],
  };
  let nextTable = table;
  const respondToForm = (form: URLSearchParams): string => {
    const action = form.get('Action') ?? '';
    stack.requests.push(form);
    if (action === 'CreateChangeSet') nextTable = form.get('Parameters.member.1.ParameterValue') ?? '';
    if (action === 'ExecuteChangeSet') stack.outputs.BookTableName = nextTable;
    if (action === 'DescribeChangeSet') return toXml(action, '<Status>CREATE_COMPLETE</Status>');
    if (action !== 'DescribeStacks') return toXml(action, '<Id>1</Id>');
    const outputs = Object.entries(stack.outputs).map(
      ([key, value]) => `<OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue>`,
    );
    const parameters = ['RestoredTable', 'AnotherParameter'].map((name) => `<ParameterKey>${name}</ParameterKey>`);
    const texts = `<StackName>s</StackName><CreationTime>2026-01-01T00:00:00Z</CreationTime><StackStatus>UPDATE_COMPLETE</StackStatus>`;
    const tags = `<Tags>${toMembers(['<Key>STAGE</Key><Value>prod</Value>'])}</Tags>`;
    const members = `<Outputs>${toMembers(outputs)}</Outputs><Parameters>${toMembers(parameters)}</Parameters>${tags}`;
    return toXml(action, `<Stacks>${toMembers([texts + members])}</Stacks>`);
  };
  const { baseUrl, stop } = await startFaultyGateway(endpoint, (_, headers, body) => {
    const target = String(headers['x-amz-target'] ?? '');
    if (target === '') {
      const text = respondToForm(new URLSearchParams(body.toString()));
      return { status: 200, headers: { 'Content-Type': 'text/xml' }, body: text };
    }
    const stubbed = ofDynamoDB[target.split('.').at(-1) ?? ''];
    return stubbed ? { status: 200, body: JSON.stringify(stubbed) } : 'pass';
  });
  // The access key is that of the engine.
  const env = { ...process.env, AWS_ENDPOINT_URL: baseUrl, AWS_REGION: 'us-east-1' };
  return { stack, env, stop };
}
