/** The parameters of a stage for a name of its own (serverless/stages.yml); each is empty when it is not set. */
export interface DomainParameters {
  readonly domainName: string;
  readonly certificateArn: string;
  readonly hostedZoneId: string;
}

/**
 * Finds what is wrong with the parameters of the stage's own name.
 *
 * @param parameters - the parameters
 * @param region - the region of the stage
 * @returns what is wrong, for whoever deploys; `undefined` when they fit together
 */
export function findDomainProblem(
  { domainName, certificateArn, hostedZoneId }: DomainParameters,
  region: string,
): string | undefined {
  if (domainName === '') {
    return certificateArn === '' && hostedZoneId === ''
      ? undefined
      : 'certificateArn and hostedZoneId need domainName.';
  }
  if (certificateArn === '') return 'domainName needs certificateArn, a certificate for that name.';
  if (certificateArn.split(':')[3] !== region) {
    return `certificateArn has to be a certificate in ${region}, the region of the stage.`;
  }
  return undefined;
}

/**
 * Makes the resources of the stage's own name: a regional domain with TLS 1.2 or newer, at whose root the stage responds,
 * and with a hosted zone its alias record.
 *
 * @param parameters - parameters without a problem, with a domain name
 * @returns the resources, by logical id
 */
export function createDomain({ domainName, certificateArn, hostedZoneId }: DomainParameters) {
  return {
    ApiDomainName: {
      Type: 'AWS::ApiGateway::DomainName',
      Properties: {
        DomainName: domainName,
        RegionalCertificateArn: certificateArn,
        EndpointConfiguration: { Types: ['REGIONAL'] },
        SecurityPolicy: 'TLS_1_2',
      },
    },
    ApiBasePathMapping: {
      Type: 'AWS::ApiGateway::BasePathMapping',
      Properties: {
        DomainName: { Ref: 'ApiDomainName' },
        RestApiId: { Ref: 'ApiGatewayRestApi' },
        Stage: { Ref: 'ApiGatewayStage' },
      },
    },
    ...(hostedZoneId !== '' && {
      ApiAliasRecord: {
        Type: 'AWS::Route53::RecordSet',
        Properties: {
          HostedZoneId: hostedZoneId,
          Name: domainName,
          Type: 'A',
          AliasTarget: {
            DNSName: { 'Fn::GetAtt': ['ApiDomainName', 'RegionalDomainName'] },
            HostedZoneId: { 'Fn::GetAtt': ['ApiDomainName', 'RegionalHostedZoneId'] },
          },
        },
      },
    }),
  };
}
