import http from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { describeVersions } from '../../../../serverless/deploy/versions.ts';
import { close, listen } from '../../../support/loopback-server.ts';

const minute = 60_000;
const now = Math.floor(Date.now() / minute) * minute;
const directoryOf = (time: number) => `${time}-${new Date(time).toISOString()}`;

/** An update of the stack: its statuses, and the command whose deployment of the API it creates, if it comes so far. */
interface Update {
  readonly startedAt: number;
  readonly statuses: readonly string[];
  readonly commandId?: number;
  /** The deployment that is deleted at the end. */
  readonly deletes?: number;
}

const completed = ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'UPDATE_COMPLETE'];
const rolledBack = ['UPDATE_ROLLBACK_IN_PROGRESS', 'UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS'];
const failed = [...rolledBack, 'UPDATE_ROLLBACK_COMPLETE'];

test('the deploys are listed with their states, also when an update failed early or went back to an earlier deploy', async () => {
  const ago = (minutes: number) => now - minutes * minute;
  const [forgotten, first, early, late] = [ago(100 * 24 * 60), ago(60), ago(50), ago(40)];
  const [never, current, next] = [ago(30), ago(10), now];
  const updates: readonly Update[] = [
    { startedAt: first + 2, commandId: first - 1, statuses: completed, deletes: forgotten },
    { startedAt: early + 2, statuses: failed },
    { startedAt: late + 2, commandId: late - 1, statuses: failed, deletes: late - 1 },
    // Nothing of `never` came to the stack: a switch of tables follows, and a rollback.
    { startedAt: never + 2, statuses: completed },
    { startedAt: never + 4, commandId: first - 1, statuses: completed, deletes: first - 1 },
    { startedAt: current + 2, commandId: current - 1, statuses: completed, deletes: first - 1 },
    { startedAt: next + 2, statuses: [] },
  ];

  const lines = await describe([forgotten, first, early, late, never, current, next], updates, current);

  expect(lines).toEqual([
    `${line(forgotten)}older than the events of the stack`,
    `${line(first)}deployed`,
    `${line(early)}failed, and rolled back`,
    `${line(late)}failed, and rolled back`,
    `${line(never)}not deployed`,
    `${line(current)}deployed, running now`,
    `${line(next)}is being deployed`,
  ]);
});

test('an update that CloudFormation could not roll back at first has failed', async () => {
  const stuck = { startedAt: now, statuses: ['UPDATE_ROLLBACK_IN_PROGRESS', 'UPDATE_ROLLBACK_FAILED', ...failed] };

  expect(await describe([now - 1], [stuck], 0)).toEqual([`${line(now - 1)}failed, and rolled back`]);
});

function line(time = 0): string {
  return `${time}  ${new Date(time).toISOString()}  `;
}

/** Plays CloudFormation for the stack, with an event a page. */
async function describe(times: readonly number[], updates: readonly Update[], running: number) {
  const event = (id: string, physicalId: string, status: string, time: number) =>
    `<member><StackId>stack</StackId><LogicalResourceId>${id}</LogicalResourceId><PhysicalResourceId>${physicalId}</PhysicalResourceId>` +
    `<ResourceStatus>${status}</ResourceStatus><Timestamp>${new Date(time).toISOString()}</Timestamp></member>`;
  const ofUpdate = ({ startedAt, statuses, commandId, deletes }: Update) => [
    event('book-catalog-prod', 'stack', 'UPDATE_IN_PROGRESS', startedAt),
    ...(commandId ? [event(`ApiGatewayDeployment${commandId}`, '', 'CREATE_IN_PROGRESS', startedAt)] : []),
    ...(deletes ? [event(`ApiGatewayDeployment${deletes}`, 'a1', 'DELETE_COMPLETE', startedAt)] : []),
    ...statuses.map((status) => event('book-catalog-prod', 'stack', status, startedAt)),
  ];
  const newestFirst = updates.flatMap(ofUpdate).reverse();
  const results = (form: URLSearchParams): Readonly<Record<string, string>> => {
    const page = Number(form.get('NextToken') ?? 0);
    const next = page + 1 < newestFirst.length ? `<NextToken>${page + 1}</NextToken>` : '';
    return {
      DescribeStacks: '<Stacks><member><StackStatus>UPDATE_COMPLETE</StackStatus></member></Stacks>',
      GetTemplate: `<TemplateBody>{"S3Key": "serverless/book-catalog/prod/${directoryOf(running)}/x.zip"}</TemplateBody>`,
      DescribeStackEvents: `<StackEvents>${newestFirst[page] ?? ''}</StackEvents>${next}`,
    };
  };
  const server = http.createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    const action = form.get('Action') ?? '';
    response.end(`<${action}Response><${action}Result>${results(form)[action]}</${action}Result></${action}Response>`);
  });
  const endpoint = `http://127.0.0.1:${await listen(server)}`;
  onTestFinished(() => close(server));
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  return describeVersions('book-catalog-prod', times.map(directoryOf), { endpoint, region: 'eu-west-1', credentials });
}
