import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

/** Takes a response as Lambda's runtime does: status and headers first, then the body. */
class ResponseStream extends PassThrough {
  head = { statusCode: 0, headers: {} };
}

type StreamingHandler = (event: APIGatewayProxyEvent, stream: ResponseStream, context: Context) => Promise<void>;

/**
 * The global object with which functions stream their responses, for places without Lambda's runtime: a streaming handler
 * that is loaded after this module returns its whole response, as other handlers do. It rejects when the body breaks off. The local service has its own, which sends each part at once.
 */
Object.assign(globalThis, {
  awslambda: {
    streamifyResponse:
      (handler: StreamingHandler) =>
      async (event: APIGatewayProxyEvent, context: Context): Promise<APIGatewayProxyResult> => {
        const stream = new ResponseStream();
        const [body] = await Promise.all([buffer(stream), handler(event, stream, context)]);
        const isBase64Encoded = 'Content-Encoding' in stream.head.headers;
        return { ...stream.head, body: body.toString(isBase64Encoded ? 'base64' : 'utf8'), isBase64Encoded };
      },
    HttpResponseStream: {
      from: (stream: ResponseStream, head: ResponseStream['head']) => Object.assign(stream, { head }),
    },
  },
});
