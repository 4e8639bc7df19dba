import { addPreflights, corsHeaders } from '../cors.ts';
import { type Hooks, type Serverless, type Service, toLogicalId } from '../framework.ts';
import { functions as allFunctions } from '../functions.ts';
import { createGatewayResponses } from '../gateway-responses.ts';
import { stageParameters } from './stage-parameters.ts';

/**
 * Serverless plugin that leaves out the functions whose parameter is not set (`onlyWith`), and adds to the template what the
 * framework leaves out:
 * - the role of each function, which serverless/resources/roles.js makes from its `tableActions`;
 * - the gateway responses, and the methods for preflight requests;
 * - the permissions boundary;
 * - the deletion of a table that is not protected, with its stack;
 * - the endpoint access mode of the API and of its domain (stack.ts);
 * - the parts whose parameters are set.
 */
export default class TemplatePlugin {
  readonly hooks: Hooks;

  constructor({ service, configSchemaHandler }: Serverless) {
    const tableActions = { type: 'array', items: { type: 'string' } };
    const onlyWith = { enum: Object.keys(stageParameters) };
    configSchemaHandler.defineFunctionProperties('aws', { properties: { tableActions, onlyWith } });
    this.hooks = {
      'before:package:initialize': () => completeFunctions(service),
      'after:aws:package:finalize:mergeCustomProviderResources': () => completeTemplate(service),
    };
  }
}

function completeFunctions({ functions, custom }: Service): void {
  for (const [name, definition] of Object.entries(functions)) {
    if (definition.onlyWith !== undefined && custom.stage[definition.onlyWith] === '') delete functions[name];
    definition.role = { 'Fn::Sub': `\${${toLogicalId(name)}Role.Arn}` };
  }
  const { corsOrigin } = custom.stage;
  if (corsOrigin !== '') addPreflights(Object.values(functions), corsOrigin);
}

function completeTemplate({ custom, functions, provider }: Service): void {
  const { Resources, Outputs } = provider.compiledCloudFormationTemplate;
  const { corsOrigin, permissionsBoundary, requestsPerAddress, listConcurrency, domainName } = custom.stage;
  const { deletionProtection, endpointAccessMode } = custom.stage;
  const headers = corsOrigin === '' ? {} : corsHeaders(corsOrigin);
  const responses = createGatewayResponses(headers, requestsPerAddress !== '');
  Object.assign(Resources, responses);
  for (const [parameter, part] of Object.entries(custom.optionalParts)) {
    if (custom.stage[parameter as keyof typeof custom.stage] === '') continue;
    Object.assign(Resources, part.Resources);
    Object.assign(Outputs, part.Outputs);
  }
  const { BookTable } = Resources;
  if (String(deletionProtection) === 'false' && BookTable) {
    Object.assign(BookTable, { DeletionPolicy: 'Delete', UpdateReplacePolicy: 'Delete' });
  }
  for (const { name } of allFunctions) if (!(name in functions)) delete Resources[`${toLogicalId(name)}Role`];
  const { ListBooksLambdaFunction: list, ProbeServiceLambdaFunction: probe } = Resources;
  if (listConcurrency !== '' && list) list.Properties.ReservedConcurrentExecutions = Number(listConcurrency);
  if (domainName !== '' && probe) {
    const { Variables } = probe.Properties.Environment as { readonly Variables: Record<string, unknown> };
    Variables.BASE_URL = `https://${domainName}`;
  }
  const EndpointAccessMode = endpointAccessMode || 'STRICT';
  Outputs.EndpointAccessMode = { Description: 'The endpoint access mode of the API', Value: EndpointAccessMode };
  for (const resource of Object.values(Resources)) {
    if (['AWS::ApiGateway::RestApi', 'AWS::ApiGateway::DomainName'].includes(resource.Type)) {
      Object.assign(resource.Properties, { EndpointAccessMode });
    }
    if (resource.Type === 'AWS::IAM::Role' && permissionsBoundary !== '') {
      resource.Properties.PermissionsBoundary = permissionsBoundary;
    }
    // A deployment is a snapshot of the API as it is by then, and the framework makes it wait for methods only. Its
    // `StageName` would create a second stage beside that of serverless/resources/stage.yml.
    if (resource.Type === 'AWS::ApiGateway::Deployment') {
      resource.DependsOn = [resource.DependsOn ?? [], Object.keys(responses)].flat();
      delete resource.Properties.StageName;
    }
  }
}
