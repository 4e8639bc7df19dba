import type { APIGatewayProxyEvent } from 'aws-lambda';
import { HttpError, outcomes } from './outcomes.ts';
import { parseUrlParameter, urlParameters } from './url-parameters.ts';

/** Reads the `{id}` of the path. @throws {HttpError} 404 when no book can have that id */
export function readBookId({ pathParameters }: APIGatewayProxyEvent): number {
  const id = parseUrlParameter(urlParameters.id, pathParameters?.id);
  if (id === undefined) throw new HttpError(outcomes.bookNotFound, { reason: 'id' });
  return id;
}

/** Makes the header with the path of a created book (RFC 9110 section 10.2.2), relative to the host, with the stage. */
export function locationHeader({ requestContext }: APIGatewayProxyEvent, id: number): { Location: string } {
  // API Gateway ignores a slash at the end.
  return { Location: `${requestContext.path.replace(/\/$/, '')}/${id}` };
}
