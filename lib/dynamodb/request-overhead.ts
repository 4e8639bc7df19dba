import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** CloudTrail shows it beside each request. */
const userAgent = 'book-catalog';

/**
 * Makes the requests of a client take less processor time, and changes nothing about them but their `User-Agent`.
 *
 * @param client - the client
 */
export function reduceRequestOverhead(client: DynamoDBClient): void {
  keepSigner(client);
  leaveOutMiddleware(client);
}

/** The SDK makes a signer for each request, with a copy of its whole configuration. One does for all of them. */
function keepSigner({ config }: DynamoDBClient): void {
  const createSigner = config.signer;
  let signer: ReturnType<typeof createSigner> | undefined;
  config.signer = (authScheme) => {
    signer ??= createSigner(authScheme);
    return signer;
  };
}

/** Leaves out what collects texts for a log that there is none of, and what composes a `User-Agent` for each request. */
function leaveOutMiddleware({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.remove('loggerMiddleware');
  middlewareStack.remove('getUserAgentMiddleware');
  middlewareStack.add(
    (next) => (args) => {
      (args.request as HttpRequest).headers['user-agent'] = userAgent;
      return next(args);
    },
    { name: 'setUserAgent', step: 'build' },
  );
}

/** What the SDK has made of a command. */
interface HttpRequest {
  readonly headers: Record<string, string>;
}
