import { addPreflights, corsHeaders } from '../api-gateway/cors.ts';
import { createGatewayResponses } from '../api-gateway/gateway-responses.ts';
import type { Hooks, Serverless, Service, Template } from '../framework-types.ts';
import { toLogicalId } from '../functions.ts';
import { isTemporary } from './target.ts';

/** Serverless plugin that adds to functions and template what serverless.yml cannot say. */
export default class TemplatePlugin {
  readonly hooks: Hooks;

  constructor(serverless: Serverless) {
    const { service, configSchemaHandler } = serverless;
    const tableActions = { type: 'array', items: { type: 'string' } };
    configSchemaHandler.defineFunctionProperties('aws', { properties: { tableActions } });
    this.hooks = {
      'before:package:initialize': () => {
        assignRoles(service);
        const { corsOrigin } = service.custom.parameters;
        if (corsOrigin !== '') addPreflights(Object.values(service.functions), corsOrigin);
      },
      'after:aws:package:finalize:mergeCustomProviderResources': () => {
        const template = service.provider.compiledCloudFormationTemplate;
        addOptionalParts(template, service);
        addGatewayResponses(template, service);
        separateStage(template);
        attachBoundary(template, service);
        if (isTemporary(serverless.getProvider('aws').getStage())) releaseTable(template);
      },
    };
  }
}

/** Gives each function its role, which serverless/resources/roles.js makes from its `tableActions`. */
function assignRoles({ functions }: Service): void {
  for (const [name, definition] of Object.entries(functions)) {
    definition.role = { 'Fn::Sub': `\${${toLogicalId(name)}Role.Arn}` };
  }
}

/** Adds the parts whose parameters are set. */
function addOptionalParts({ Resources, Outputs }: Template, { custom }: Service): void {
  for (const [parameter, part] of Object.entries(custom.optionalParts)) {
    if (custom.parameters[parameter] === '') continue;
    Object.assign(Resources, part.Resources);
    Object.assign(Outputs, part.Outputs);
  }
}

/** A deployment is a snapshot of the API. The framework makes it wait for the methods only. */
function addGatewayResponses(template: Template, { custom }: Service): void {
  const { corsOrigin, requestsPerAddress } = custom.parameters;
  const headers = corsOrigin === '' ? {} : corsHeaders(corsOrigin);
  const responses = createGatewayResponses(headers, requestsPerAddress !== '');
  Object.assign(template.Resources, responses);
  for (const deployment of findResources(template, 'AWS::ApiGateway::Deployment')) {
    deployment.DependsOn = [deployment.DependsOn ?? [], Object.keys(responses)].flat();
  }
}

/** A deployment with a `StageName` creates a second stage beside that of serverless/resources/stage.yml. */
function separateStage(template: Template): void {
  for (const { Properties } of findResources(template, 'AWS::ApiGateway::Deployment')) delete Properties.StageName;
}

function attachBoundary(template: Template, { custom }: Service): void {
  const { permissionsBoundary: PermissionsBoundary } = custom.parameters;
  if (PermissionsBoundary === '') return;
  for (const { Properties } of findResources(template, 'AWS::IAM::Role'))
    Object.assign(Properties, { PermissionsBoundary });
}

/** Lets a removal of the stack delete the table. */
function releaseTable(template: Template): void {
  for (const table of findResources(template, 'AWS::DynamoDB::Table')) {
    Object.assign(table, { DeletionPolicy: 'Delete', UpdateReplacePolicy: 'Delete' });
    table.Properties.DeletionProtectionEnabled = false;
  }
}

function findResources({ Resources }: Template, type: string) {
  return Object.values(Resources).filter(({ Type }) => Type === type);
}
