import { type Outcome, outcomes } from '../../lib/http/outcomes.ts';

/** In a second, a throttled stage takes requests again, and a new instance starts. */
const retrySoon = { 'Retry-After': '1' };

const notFound = { status: 404, message: 'Not found' };
const tooManyRequests = { status: 429, message: 'Too many requests' };

/**
 * API Gateway's own responses, by response type ("Gateway response types for API Gateway").
 *
 * The body repeats the status, but its template cannot insert it. So the types that are not named here share two fixed
 * statuses that are true of every cause: 400, the request was refused, and 502, the function gave no valid response.
 */
export const gatewayResponses = {
  // For an unknown path, or a method that a path does not have, API Gateway expects a request signed for AWS. A header
  // `Authorization` that is not such a signature gets DEFAULT_4XX instead.
  MISSING_AUTHENTICATION_TOKEN: notFound,
  INVALID_SIGNATURE: notFound,
  RESOURCE_NOT_FOUND: notFound,
  REQUEST_TOO_LARGE: outcomes.payloadTooLarge,
  THROTTLED: { ...tooManyRequests, headers: retrySoon },
  WAF_FILTERED: { ...tooManyRequests, headers: { 'Retry-After': '60' } }, // AWS WAF counts the last minute
  INTEGRATION_TIMEOUT: { status: 504, message: 'Gateway timeout', headers: retrySoon },
  DEFAULT_4XX: { status: 400, message: 'Bad request' },
  DEFAULT_5XX: { status: 502, message: 'Bad gateway', headers: retrySoon },
} as const satisfies Record<string, Outcome>;

export type GatewayResponseType = keyof typeof gatewayResponses;

export type Headers = Readonly<Record<string, string>>;

export interface GatewayResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Renders a gateway response as API Gateway does. @param headers - of every gateway response */
export function renderGatewayResponse(type: GatewayResponseType, headers: Headers): GatewayResponse {
  const { status, message, headers: own }: Outcome = gatewayResponses[type];
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...own, ...headers },
    body: JSON.stringify({ status, message, data: null }),
  };
}

/** Makes the CloudFormation resources of the gateway responses, by logical id. WAF_FILTERED needs AWS WAF. */
export function createGatewayResponses(sharedHeaders: Headers, limitsAddresses: boolean) {
  const types = (Object.keys(gatewayResponses) as GatewayResponseType[]).filter(
    (type) => type !== 'WAF_FILTERED' || limitsAddresses,
  );
  const resources = types.map((type) => {
    const { status, headers, body } = renderGatewayResponse(type, sharedHeaders);
    const { 'Content-Type': contentType = '', ...others } = headers;
    // Single quotes mark a static value.
    const parameters = Object.entries(others).map(([name, value]) => [`gatewayresponse.header.${name}`, `'${value}'`]);
    const Properties = {
      RestApiId: { Ref: 'ApiGatewayRestApi' },
      ResponseType: type,
      StatusCode: String(status),
      ...(parameters.length > 0 && { ResponseParameters: Object.fromEntries(parameters) }),
      ResponseTemplates: { [contentType]: body },
    };
    const logicalId = `GatewayResponse${type.replaceAll('_', '')}`;
    return [logicalId, { Type: 'AWS::ApiGateway::GatewayResponse', Properties }] as const;
  });
  return Object.fromEntries(resources);
}
