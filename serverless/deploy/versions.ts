import {
  CloudFormationClient,
  type CloudFormationClientConfig,
  paginateDescribeStackEvents,
} from '@aws-sdk/client-cloudformation';
import { findVersion } from './stack.ts';

/** CloudFormation keeps the events of a stack for 90 days (API Reference, "DescribeStackEvents"). */
const eventDays = 90;
const msOfDay = 24 * 3_600_000;

/**
 * Describes the deploys of a stage whose artifacts are kept. The artifacts do not say whether a deploy has succeeded, but
 * the events of the stack do.
 *
 * @param directories - those of the artifacts, like `1795252492369-2026-11-21T08:54:52.369Z`, ascending
 * @returns a line for each, with the timestamp, which is the option of a rollback, the time, and the state
 */
export async function describeVersions(
  StackName: string,
  directories: readonly string[],
  config: CloudFormationClientConfig,
): Promise<readonly string[]> {
  const [running, updates] = await Promise.all([findVersion(StackName, config), readUpdates(StackName, config)]);
  const versions = directories.map((directory) => {
    const [timestamp = '', ...date] = directory.split('-');
    return { timestamp, date: date.join('-') };
  });
  return versions.map(({ timestamp, date }, index) => {
    const [before, after] = [index - 1, index + 1].map((at) => versions[at]?.timestamp);
    const state = findState(updates, Number(before ?? 0), Number(timestamp), Number(after ?? Infinity));
    return `${timestamp}  ${date}  ${state}${timestamp === running ? ', running now' : ''}`;
  });
}

/** An update of the stack. */
interface Update {
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** When the command of the framework began, which is in the name of the API's deployment. A switch of tables has none. */
  commandId?: number;
  /** The status of the stack at its end, `undefined` until then. */
  end?: string;
}

/** @param timestamp - of a deploy's artifacts, made after its command has begun. `before` and `after` are those of others */
function findState(updates: readonly Update[], before: number, timestamp: number, after: number): string {
  const isOfCommand = ({ commandId = 0 }: Update) => commandId > before && commandId <= timestamp;
  // An update may fail before it has created the deployment.
  const isFailed = ({ startedAt, commandId, end }: Update) =>
    commandId === undefined && end !== 'UPDATE_COMPLETE' && startedAt > timestamp && startedAt < after;
  const update = updates.find(isOfCommand) ?? updates.find(isFailed);
  if (update === undefined) {
    return timestamp < Date.now() - eventDays * msOfDay ? 'older than the events of the stack' : 'not deployed';
  }
  if (update.end === undefined) return 'is being deployed';
  return update.end === 'UPDATE_COMPLETE' ? 'deployed' : 'failed, and rolled back';
}

/** Reads the updates of a stack, the oldest first. */
async function readUpdates(StackName: string, config: CloudFormationClientConfig): Promise<readonly Update[]> {
  const pages = paginateDescribeStackEvents({ client: new CloudFormationClient(config) }, { StackName });
  const events = (await Array.fromAsync(pages)).flatMap(({ StackEvents = [] }) => StackEvents).reverse();
  const updates: Update[] = [];
  for (const { StackId, PhysicalResourceId, LogicalResourceId = '', ResourceStatus = '', Timestamp } of events) {
    const update = updates.at(-1);
    const [, commandId] = /^ApiGatewayDeployment(\d+)$/.exec(LogicalResourceId) ?? [];
    if (PhysicalResourceId === StackId && ResourceStatus === 'UPDATE_IN_PROGRESS') {
      updates.push({ startedAt: Timestamp?.getTime() ?? 0 });
    } else if (PhysicalResourceId === StackId && update && !ResourceStatus.endsWith('_IN_PROGRESS')) {
      update.end = ResourceStatus;
    } else if (commandId !== undefined && update && !ResourceStatus.startsWith('DELETE')) {
      update.commandId = Number(commandId); // the one before is deleted at the end
    }
  }
  return updates;
}
