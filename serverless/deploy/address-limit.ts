/** AWS WAF takes no smaller limit. */
const minRequests = 10;

/** Far more than one client needs, whose token is good for 15 minutes, and few against guessing. */
const maxLoginsPerMinute = 20;

/** How far back AWS WAF looks each time that it counts; the shortest there is. */
const windowSeconds = 60;

/**
 * Finds what is wrong with the parameter `requestsPerAddress`.
 *
 * @param requestsPerAddress - its value; empty when it is not set
 * @returns what is wrong, for whoever deploys; `undefined` when nothing is
 */
export function findAddressLimitProblem(requestsPerAddress: string): string | undefined {
  if (requestsPerAddress === '' || isLimit(requestsPerAddress)) return undefined;
  return `requestsPerAddress has to be a whole number of requests per minute, ${minRequests} or more.`;
}

function isLimit(text: string): boolean {
  return /^\d{1,9}$/.test(text) && Number(text) >= minRequests;
}

/**
 * Makes the resources that limit the requests of each client address: an AWS WAF web ACL before the stage. What it blocks
 * gets the gateway response WAF_FILTERED.
 *
 * @param name - the name of the web ACL
 * @param requestsPerAddress - a value without a problem, requests per minute
 * @returns the resources, by logical id
 */
export function createAddressLimit(name: string, requestsPerAddress: string) {
  const limit = Number(requestsPerAddress);
  const logins = {
    ByteMatchStatement: {
      // The path starts with the stage, or not, depending on the name that the client uses. What is no login besides
      // does not exist.
      FieldToMatch: { UriPath: {} },
      PositionalConstraint: 'CONTAINS',
      SearchString: '/token',
      TextTransformations: [{ Priority: 0, Type: 'URL_DECODE' }],
    },
  };
  return {
    AddressLimit: {
      Type: 'AWS::WAFv2::WebACL',
      Properties: {
        Name: name,
        Scope: 'REGIONAL',
        DefaultAction: { Allow: {} },
        Rules: [
          createRule('LoginsPerAddress', 0, Math.min(limit, maxLoginsPerMinute), logins),
          createRule('RequestsPerAddress', 1, limit),
        ],
        VisibilityConfig: createVisibility(name),
      },
    },
    AddressLimitAssociation: {
      Type: 'AWS::WAFv2::WebACLAssociation',
      Properties: {
        ResourceArn: {
          'Fn::Sub':
            // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation replaces these
            'arn:${AWS::Partition}:apigateway:${AWS::Region}::/restapis/${ApiGatewayRestApi}/stages/${ApiGatewayStage}',
        },
        WebACLArn: { 'Fn::GetAtt': ['AddressLimit', 'Arn'] },
      },
    },
  };
}

function createRule(name: string, priority: number, limit: number, scope?: object) {
  return {
    Name: name,
    Priority: priority,
    Action: { Block: {} },
    Statement: {
      RateBasedStatement: {
        AggregateKeyType: 'IP',
        EvaluationWindowSec: windowSeconds,
        Limit: limit,
        ...(scope && { ScopeDownStatement: scope }),
      },
    },
    VisibilityConfig: createVisibility(name),
  };
}

/** Without samples of requests, which hold their headers, tokens included. */
function createVisibility(name: string) {
  return { CloudWatchMetricsEnabled: true, MetricName: name, SampledRequestsEnabled: false };
}
