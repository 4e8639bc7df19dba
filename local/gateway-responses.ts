/** An `AWS::ApiGateway::GatewayResponse`, as far as the templates in infrastructure/gateway-responses.yml use it. */
interface GatewayResponseResource {
  readonly Type: 'AWS::ApiGateway::GatewayResponse';
  readonly Properties: {
    readonly ResponseType: string;
    readonly StatusCode: string;
    readonly ResponseParameters?: Readonly<Record<string, string>>;
    readonly ResponseTemplates: { readonly 'application/json': string };
  };
}

/** An answer of the gateway's own. */
export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const headerParameter = /^gatewayresponse\.header\.(.+)$/;

/**
 * Collects the gateway responses among the resources of the stack, each as API Gateway would render it.
 *
 * @param resources - the `Resources` of the CloudFormation template, by logical id
 * @returns a function that gives the answer for a response type, such as `REQUEST_TOO_LARGE`; it throws an Error for
 *   a type that is not defined
 */
export function collectGatewayResponses(
  resources: Readonly<Record<string, { readonly Type: string }>>,
): (type: string) => GatewayResponse {
  const responses = new Map(
    Object.values(resources)
      .filter(isGatewayResponse)
      .map((resource) => [resource.Properties.ResponseType, render(resource)]),
  );
  return (type) => {
    const response = responses.get(type);
    if (response === undefined) throw new Error(`no gateway response is defined for ${type}`);
    return response;
  };
}

function isGatewayResponse(resource: { readonly Type: string }): resource is GatewayResponseResource {
  return resource.Type === 'AWS::ApiGateway::GatewayResponse';
}

function render({ Properties }: GatewayResponseResource): GatewayResponse {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  for (const [parameter, value] of Object.entries(Properties.ResponseParameters ?? {})) {
    const name = headerParameter.exec(parameter)?.[1];
    // A static value is written in single quotes ("Set up gateway response parameters").
    if (name) headers[name] = value.slice(1, -1);
  }
  return {
    status: Number(Properties.StatusCode),
    headers,
    body: Properties.ResponseTemplates['application/json'],
  };
}
