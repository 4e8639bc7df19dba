import { type Outcome, outcomes } from '../../lib/http/outcomes.ts';

/** Long enough for a throttled stage to take requests again, and for a new instance to start. */
const retrySoon = { 'Retry-After': '1' };

/** AWS WAF counts the requests of the last minute (serverless/deploy/address-limit.ts). */
const retryNextMinute = { 'Retry-After': '60' };

const notFound = { status: 404, message: 'Not found' };
const tooManyRequests = { status: 429, message: 'Too many requests' };

/**
 * What API Gateway responds with by itself, by its response types ("Gateway response types for API Gateway"). A type that
 * is not here falls to DEFAULT_4XX or DEFAULT_5XX, whose status then replaces its own. The status has to be in the body
 * as well, and templates cannot insert it. So each default has the one status of its class that is true of every cause:
 * 400, the request was refused; 502, the function gave no valid response. 500 comes from the functions alone.
 */
export const gatewayResponses = {
  // An unknown path, or a method that a path does not have: API Gateway then expects a request signed for AWS. An
  // `Authorization` that is no such signature falls to DEFAULT_4XX instead.
  MISSING_AUTHENTICATION_TOKEN: notFound,
  INVALID_SIGNATURE: notFound,
  RESOURCE_NOT_FOUND: notFound,
  REQUEST_TOO_LARGE: outcomes.payloadTooLarge,
  THROTTLED: { ...tooManyRequests, headers: retrySoon },
  WAF_FILTERED: { ...tooManyRequests, headers: retryNextMinute },
  INTEGRATION_TIMEOUT: { status: 504, message: 'Gateway timeout', headers: retrySoon },
  DEFAULT_4XX: { status: 400, message: 'Bad request' },
  DEFAULT_5XX: { status: 502, message: 'Bad gateway', headers: retrySoon },
} as const satisfies Record<string, Outcome>;

/** A response type that is defined. */
export type GatewayResponseType = keyof typeof gatewayResponses;

/** A response of the gateway's own. */
export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Renders a gateway response as API Gateway does.
 *
 * @param type - the response type
 * @param headers - more headers
 */
export function renderGatewayResponse(
  type: GatewayResponseType,
  headers: Readonly<Record<string, string>> = {},
): GatewayResponse {
  const { status, message, headers: own }: Outcome = gatewayResponses[type];
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...own, ...headers },
    body: JSON.stringify({ status, message, data: null }),
  };
}

/**
 * Makes the CloudFormation resources of the gateway responses.
 *
 * @param options - `headers`, more headers for each; `limitsAddresses`, whether AWS WAF stands before the API
 * @returns the resources, by logical id
 */
export function createGatewayResponses({
  headers,
  limitsAddresses,
}: {
  readonly headers: Readonly<Record<string, string>>;
  readonly limitsAddresses: boolean;
}) {
  const types = (Object.keys(gatewayResponses) as GatewayResponseType[]).filter(
    (type) => type !== 'WAF_FILTERED' || limitsAddresses,
  );
  return Object.fromEntries(
    types.map((type) => [`GatewayResponse${type.replaceAll('_', '')}`, createGatewayResponse(type, headers)]),
  );
}

function createGatewayResponse(type: GatewayResponseType, moreHeaders: Readonly<Record<string, string>>) {
  const { status, headers, body } = renderGatewayResponse(type, moreHeaders);
  const { 'Content-Type': contentType = '', ...others } = headers;
  // A static value is written in single quotes.
  const parameters = Object.entries(others).map(([name, value]) => [
    `gatewayresponse.header.${name}`,
    `'${value}'`,
  ]);
  return {
    Type: 'AWS::ApiGateway::GatewayResponse',
    Properties: {
      RestApiId: { Ref: 'ApiGatewayRestApi' },
      ResponseType: type,
      StatusCode: String(status),
      ...(parameters.length > 0 && { ResponseParameters: Object.fromEntries(parameters) }),
      ResponseTemplates: { [contentType]: body },
    },
  };
}
