import { readFileSync } from 'node:fs';
import { overlap } from '../../simulators/iam.ts';

/** What CloudFormation's handlers of a resource type (`create`, `read`, …) call with the rights of whoever deploys. */
type Handlers = Readonly<Record<string, readonly string[]>>;

interface Definitions {
  readonly handlers: Readonly<Record<string, Handlers>>;
  readonly actions: Readonly<Record<string, readonly string[]>>;
  readonly resources: Readonly<Record<string, readonly string[]>>;
}

const { handlers, actions, resources } = JSON.parse(
  readFileSync(new URL('aws-definitions.json', import.meta.url), 'utf8'),
) as Definitions;

/** They act on a subscription, which no policy can name, though the reference says a topic. */
const onSubscriptions = ['sns:GetSubscriptionAttributes', 'sns:SetSubscriptionAttributes', 'sns:Unsubscribe'];

const refresh = 'it is misspelt, or test/aws/template/refresh-aws-definitions.ts has to run';

/** Gives the handlers of a type of resources, like `AWS::S3::Bucket`. */
export function handlersOf(type: string): Handlers {
  const found = handlers[type];
  if (found === undefined) throw new Error(`${type} has no definition: ${refresh}`);
  return found;
}

/** Gives the types of resources that an action takes, like `s3:bucket`; none for an action on no resource. */
export function resourceTypesOf(action: string): readonly string[] {
  const found = actions[action];
  if (found === undefined) throw new Error(`${action} has no definition: ${refresh}`);
  return onSubscriptions.includes(action) ? [] : found;
}

/** Tells whether an ARN, in which `*` stands for any text, can be that of a resource which an action takes. */
export function takes(action: string, arn: string): boolean {
  return resourceTypesOf(action).some((type) => {
    // A placeholder stands for any text, but no bucket has a slash in its name.
    if (type === 's3:bucket' && arn.includes('/')) return false;
    return (resources[type] ?? []).some((format) => overlap(format.replaceAll(/\$\{\w+\}/g, '*'), arn));
  });
}
