import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { stages } from '../../../serverless/deploy/target.ts';
import { functions, memorySize, serviceName, toLogicalId } from '../../../serverless/functions.ts';
import { findResources, readTemplate } from './template.ts';

// The framework makes all of this from serverless.yml. Another version of it may choose other defaults, or add a property.
const prod = readTemplate('prod');
const { provider, functions: definitions } = parse(readFileSync('serverless.yml', 'utf8'), { logLevel: 'silent' });
const { architecture, logRetentionInDays } = { ...stages.default, ...stages.prod };
const RestApiId = { Ref: 'ApiGatewayRestApi' };
const methods = Object.values(findResources(prod, 'AWS::ApiGateway::Method')).map(({ Properties }) => Properties);
const propertiesOf = (id = '') => prod.Resources[id]?.Properties;

/** The path of a resource of the API. The parent of a first segment is an attribute of the API. */
function pathOf({ Ref }: { readonly Ref?: string }): string {
  const { ParentId, PathPart } = propertiesOf(Ref) ?? {};
  return Ref === undefined ? '' : `${pathOf(ParentId)}/${PathPart}`;
}

test.each(functions)(
  'the function of $name, its log, its method and its permission are what serverless.yml says, and nothing else',
  ({ name, handler, timeout, event: { method, path } }) => {
    const id = toLogicalId(name);
    const arn = { 'Fn::GetAtt': [`${id}LambdaFunction`, 'Arn'] };
    const FunctionName = `${serviceName}-prod-${name}`;
    const variables = Object.keys({ ...provider.environment, ...definitions[name].environment });
    const { timeoutInMillis: TimeoutInMillis, response } = definitions[name].events[0].http;
    const invocations = response ? '/response-streaming-invocations' : '/invocations';

    expect(propertiesOf(`${id}LambdaFunction`)).toEqual({
      Architectures: [architecture],
      Code: { S3Bucket: { Ref: 'ServerlessDeploymentBucket' }, S3Key: expect.stringMatching(`/${name}\\.zip$`) },
      Environment: { Variables: Object.fromEntries(variables.map((variable) => [variable, expect.anything()])) },
      FunctionName,
      Handler: handler,
      LoggingConfig: { LogFormat: 'JSON', ApplicationLogLevel: 'INFO', SystemLogLevel: 'INFO' },
      MemorySize: memorySize,
      Role: { 'Fn::Sub': `\${${id}Role.Arn}` },
      Runtime: provider.runtime,
      Timeout: timeout,
      TracingConfig: provider.tracing?.lambda && { Mode: 'Active' },
    });
    const LogGroupName = `/aws/lambda/${FunctionName}`;
    expect(propertiesOf(`${id}LogGroup`)).toEqual({ LogGroupName, RetentionInDays: logRetentionInDays });
    expect(
      methods.filter(({ HttpMethod, ResourceId }) => HttpMethod === method && pathOf(ResourceId) === path),
    ).toEqual([
      {
        ApiKeyRequired: false,
        AuthorizationType: 'NONE',
        HttpMethod: method,
        Integration: {
          IntegrationHttpMethod: 'POST',
          ResponseTransferMode: response?.transferMode,
          TimeoutInMillis,
          Type: 'AWS_PROXY',
          Uri: { 'Fn::Join': ['', expect.arrayContaining([arn, invocations])] },
        },
        MethodResponses: [],
        RequestParameters: {},
        ResourceId: expect.anything(),
        RestApiId,
      },
    ]);
    expect(propertiesOf(`${id}LambdaPermissionApiGateway`)).toEqual({
      Action: 'lambda:InvokeFunction',
      FunctionName: arn,
      Principal: 'apigateway.amazonaws.com',
      SourceArn: { 'Fn::Join': ['', expect.arrayContaining([RestApiId])] },
    });
  },
);

test('the API and the bucket with the code are what serverless.yml says, and no other function or role is there', () => {
  const { PublicAccessBlockConfiguration } = propertiesOf('ServerlessDeploymentBucket');
  expect(propertiesOf('ApiGatewayRestApi')).toEqual({
    BinaryMediaTypes: provider.apiGateway.binaryMediaTypes,
    EndpointAccessMode: 'STRICT',
    EndpointConfiguration: { Types: [provider.endpointType] },
    Name: `prod-${serviceName}`,
    Policy: '',
    SecurityPolicy: provider.apiGateway.endpoint.securityPolicy,
  });
  expect(Object.values(PublicAccessBlockConfiguration)).toEqual([true, true, true, true]);
  expect(JSON.stringify(propertiesOf('ServerlessDeploymentBucketPolicy'))).toContain('{"aws:SecureTransport":false}');
  expect(Object.keys(findResources(prod, 'AWS::Lambda::Function'))).toHaveLength(functions.length);
  expect(Object.keys(findResources(prod, 'AWS::IAM::Role'))).toHaveLength(functions.length + 1); // API Gateway's
});
