/**
 * Takes the place of parts of the AWS SDK in the bundles (bundle.ts) that the functions would
 * load and never get to: the search for credentials and for settings, all of which lib/dynamodb/client.ts gives;
 * event streams, which no operation of DynamoDB has; endpoint discovery, which is turned off; and the SDK's own HTTP
 * handler, in whose place lib/dynamodb/http-handler.ts is.
 *
 * @throws an Error when it is called after all
 */
export function defaultProvider(): never {
  throw new Error(
    'the client has no credentials of its own, and the search for some is not part of the bundle',
  );
}

/**
 * The one function of node:fs/promises that the SDK uses.
 *
 * @throws an Error when it is called after all
 */
export function readFile(path: string): never {
  throw new Error(`the SDK looks for a setting in ${path}; lib/dynamodb/client.ts has to give it`);
}

/** Takes the HTTP handler that the client is given. */
export const NodeHttpHandler = { create: <Handler>(handler: Handler): Handler => handler };

/** Bodies of responses are whole, so that nothing has to be collected. */
export const streamCollector = undefined;

/** Leaves a client's configuration as it is. */
export function resolveEndpointDiscoveryConfig<Config>(config: Config): Config {
  return config;
}

export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {};
export const EventStreamSerde = undefined;
export const eventStreamSerdeProvider = undefined;
