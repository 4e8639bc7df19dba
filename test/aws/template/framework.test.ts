import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { stages } from '../../../serverless/deploy/target.ts';
import { functions, toLogicalId } from '../../../serverless/functions.ts';
import { findResources, readTemplate } from './template.ts';

const { Resources } = readTemplate('prod');
const {
  service,
  provider,
  functions: definitions,
} = parse(readFileSync('serverless.yml', 'utf8'), { logLevel: 'silent' });
const { architecture, logRetentionInDays } = { ...stages.default, ...stages.prod };
const propertiesOf = (id: string) => Resources[id]?.Properties;

// The framework makes these from serverless.yml, and a new version may make something else: another default, a new property.
test.each(functions)(
  'the function of $name, its log, its method and its permission are what serverless.yml says, and nothing else',
  ({ name, handler, timeout, event: { method, path } }) => {
    const id = toLogicalId(name);
    const variables = Object.keys({ ...provider.environment, ...definitions[name].environment });
    const { transferMode } = definitions[name].events[0].http.response ?? {};
    const parts = path
      .split('/')
      .slice(1)
      .map((part: string) => part.replace(/\W/g, ''));
    const words = parts.map((part: string) => toLogicalId(part) + (path.includes(`{${part}}`) ? 'Var' : '')).join('');
    const FunctionName = `${service}-prod-${name}`;

    expect(propertiesOf(`${id}LambdaFunction`)).toEqual({
      Architectures: [architecture],
      Code: { S3Bucket: { Ref: 'ServerlessDeploymentBucket' }, S3Key: expect.stringMatching(`/${name}\\.zip$`) },
      Environment: { Variables: Object.fromEntries(variables.map((variable) => [variable, expect.anything()])) },
      FunctionName,
      Handler: handler,
      LoggingConfig: { LogFormat: 'JSON', ApplicationLogLevel: 'INFO', SystemLogLevel: 'INFO' },
      MemorySize: provider.memorySize,
      Role: { 'Fn::Sub': `\${${id}Role.Arn}` },
      Runtime: provider.runtime,
      Timeout: timeout,
    });
    expect(propertiesOf(`${id}LogGroup`)).toEqual({
      LogGroupName: `/aws/lambda/${FunctionName}`,
      RetentionInDays: logRetentionInDays,
    });
    expect(propertiesOf(`ApiGatewayResource${words}`)).toMatchObject({ PathPart: path.split('/').at(-1) });
    const { Integration, ...ofMethod } = propertiesOf(`ApiGatewayMethod${words}${toLogicalId(method.toLowerCase())}`);
    expect(ofMethod).toMatchObject({ HttpMethod: method, ApiKeyRequired: false, AuthorizationType: 'NONE' });
    expect(Integration).toMatchObject({ IntegrationHttpMethod: 'POST', Type: 'AWS_PROXY' });
    expect(Integration.ResponseTransferMode).toBe(transferMode);
    expect(JSON.stringify(Integration.Uri)).toContain(`${id}LambdaFunction`);
    expect(JSON.stringify(Integration.Uri).includes('response-streaming')).toBe(transferMode === 'STREAM');
    expect(propertiesOf(`${id}LambdaPermissionApiGateway`)).toMatchObject({
      Action: 'lambda:InvokeFunction',
      FunctionName: { 'Fn::GetAtt': [`${id}LambdaFunction`, 'Arn'] },
      Principal: 'apigateway.amazonaws.com',
    });
  },
);

test('the API and the bucket with the code are what serverless.yml says, and nothing else', () => {
  const { binaryMediaTypes, endpoint } = provider.apiGateway;
  expect(propertiesOf('ApiGatewayRestApi')).toEqual({
    BinaryMediaTypes: binaryMediaTypes,
    EndpointAccessMode: 'STRICT',
    EndpointConfiguration: { Types: [provider.endpointType] },
    Name: `prod-${service}`,
    Policy: '',
    SecurityPolicy: endpoint.securityPolicy,
  });
  const [block] = Object.values(findResources({ Resources }, 'AWS::S3::Bucket'));
  expect(Object.values(block?.Properties.PublicAccessBlockConfiguration ?? {})).toEqual(Array(4).fill(true));
  expect(JSON.stringify(findResources({ Resources }, 'AWS::S3::BucketPolicy'))).toContain('aws:SecureTransport');
  expect(propertiesOf('ApiGatewayStage')).not.toHaveProperty('CacheClusterEnabled');
});
