import { describe, expect, test } from 'vitest';
import { findOnly, findResources, readTemplate } from './template.ts';

const template = readTemplate('dev-with-all');
const types = ['AWS::ApiGateway::DomainName', 'AWS::ApiGateway::BasePathMapping', 'AWS::Route53::RecordSet'];
const firewallTypes = ['AWS::WAFv2::WebACL', 'AWS::WAFv2::WebACLAssociation'];
const api = { Ref: 'ApiGatewayRestApi' };
const stage = { Ref: 'ApiGatewayStage' };

test.each([...types, ...firewallTypes])('without its parameter, there is no %s', (type) => {
  expect(findResources(readTemplate('dev'), type)).toEqual({});
});

describe('with a domain name', () => {
  test('the stage is at the root of a regional domain with TLS 1.2', () => {
    expect(findOnly(template, 'AWS::ApiGateway::DomainName').Properties).toEqual({
      DomainName: 'api.example.com',
      RegionalCertificateArn: expect.stringMatching(/^arn:aws:acm:us-east-1:/),
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'TLS_1_2',
    });
    expect(findOnly(template, 'AWS::ApiGateway::BasePathMapping').Properties).toEqual({
      DomainName: { Ref: 'ApiDomainName' },
      RestApiId: api,
      Stage: stage,
    });
  });

  test('its record in the hosted zone is an alias of the domain', () => {
    expect(findOnly(template, 'AWS::Route53::RecordSet').Properties).toMatchObject({
      HostedZoneId: 'Z0123456789ABCDEFGHIJ',
      Name: 'api.example.com',
      Type: 'A',
      AliasTarget: { DNSName: { 'Fn::GetAtt': ['ApiDomainName', 'RegionalDomainName'] } },
    });
  });

  test('the stack says where the API is, what its address at AWS is, and what a record elsewhere leads to', () => {
    expect(template.Outputs).toMatchObject({
      ServiceEndpoint: { Value: 'https://api.example.com' },
      ExecuteApiEndpoint: { Value: { 'Fn::Sub': expect.stringMatching(/\.execute-api\..*\/dev$/) } },
      DomainTarget: { Value: { 'Fn::GetAtt': ['ApiDomainName', 'RegionalDomainName'] } },
    });
  });
});

describe('with a limit per client address', () => {
  test('the web ACL counts all requests and, more strictly, those to /token, and keeps no samples', () => {
    const { Properties } = findOnly(template, 'AWS::WAFv2::WebACL');

    expect(Properties).toMatchObject({
      Name: 'book-catalog-dev',
      Scope: 'REGIONAL',
      DefaultAction: { Allow: {} },
    });
    expect(Properties.Rules).toMatchObject([
      {
        Name: 'LoginsPerAddress',
        Action: { Block: {} },
        Statement: {
          RateBasedStatement: {
            AggregateKeyType: 'IP',
            EvaluationWindowSec: 60,
            Limit: 20,
            ScopeDownStatement: {
              ByteMatchStatement: {
                FieldToMatch: { UriPath: {} },
                PositionalConstraint: 'CONTAINS',
                SearchString: '/token',
                TextTransformations: [{ Priority: 0, Type: 'URL_DECODE' }],
              },
            },
          },
        },
      },
      {
        Name: 'RequestsPerAddress',
        Action: { Block: {} },
        Statement: { RateBasedStatement: { AggregateKeyType: 'IP', EvaluationWindowSec: 60, Limit: '600' } },
      },
    ]);
    for (const { VisibilityConfig } of [Properties, ...Properties.Rules]) {
      expect(VisibilityConfig.SampledRequestsEnabled).toBe(false);
    }
  });

  test('it stands before the stage', () => {
    expect(findOnly(template, 'AWS::WAFv2::WebACLAssociation').Properties).toEqual({
      ResourceArn: {
        'Fn::Sub': expect.stringMatching(
          /:\/restapis\/\$\{ApiGatewayRestApi\}\/stages\/\$\{ApiGatewayStage\}$/,
        ),
      },
      WebACLArn: { 'Fn::GetAtt': ['AddressLimit', 'Arn'] },
    });
  });

  test('what it blocks gets 429 in the envelope, with Retry-After', () => {
    const blocked = Object.values(findResources(template, 'AWS::ApiGateway::GatewayResponse')).find(
      ({ Properties }) => Properties.ResponseType === 'WAF_FILTERED',
    );
    expect(blocked?.Properties).toMatchObject({
      StatusCode: '429',
      ResponseParameters: { 'gatewayresponse.header.Retry-After': "'60'" },
    });
  });
});
