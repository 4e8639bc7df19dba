/**
 * Takes the place of two parts of the AWS SDK in the bundles (serverless.yml, custom.esbuild.alias), which the functions
 * never get to but would load: the search for credentials, which lib/books/dynamodb-client.ts gives, and event streams,
 * which no operation of DynamoDB has.
 *
 * @throws an Error when it is called after all
 */
export function defaultProvider(): never {
  throw new Error(
    'the client has no credentials of its own, and the search for some is not part of the bundle',
  );
}

export const EventStreamSerde = undefined;
export const eventStreamSerdeProvider = undefined;
