import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { Envelope } from './response.ts';
import { refuseToken } from './token.ts';

/** The path parameter, and the parsed JSON body: `undefined` when there is none or it is not JSON. */
type PeerRequest = { readonly id?: string | undefined; readonly body?: unknown };

/** Makes a Lambda handler without a framework. */
export function serve(respondTo: (request: PeerRequest) => Promise<Envelope>, isPublic: boolean) {
  return async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
    const { headers, pathParameters } = event;
    const refusal = isPublic ? undefined : refuseToken(headers.Authorization ?? headers.authorization);
    const envelope = refusal ?? (await respondTo({ id: pathParameters?.id, body: parseBody(event) }));
    return {
      statusCode: envelope.status,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(envelope),
    };
  };
}

function parseBody({ body, isBase64Encoded }: APIGatewayProxyEvent): unknown {
  try {
    return JSON.parse(isBase64Encoded ? Buffer.from(body ?? '', 'base64').toString() : (body ?? ''));
  } catch {
    return undefined;
  }
}
