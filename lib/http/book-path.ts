import type { APIGatewayProxyEvent } from 'aws-lambda';
import { HttpError, outcomes } from './outcomes.ts';
import { parseUrlParameter, urlParameters } from './url-parameters.ts';

/** Reads the `{id}` of the path. @throws {HttpError} 404 when no book can have that id */
export function readBookId({ pathParameters }: APIGatewayProxyEvent): number {
  const id = parseUrlParameter(urlParameters.id, pathParameters?.id);
  if (id === undefined) throw new HttpError(outcomes.bookNotFound, { reason: 'id' });
  return id;
}

/** Reads the path below which books are created, with the stage. @throws {TypeError} for events that are not a REST API's */
export function readCollectionPath({ requestContext }: APIGatewayProxyEvent): string {
  // API Gateway ignores a slash at the end.
  return requestContext.path.replace(/\/$/, '');
}

/** Makes the header with the path of a created book, relative to the host (RFC 9110 section 10.2.2). */
export function locationHeader(collectionPath: string, id: number): { Location: string } {
  return { Location: `${collectionPath}/${id}` };
}
