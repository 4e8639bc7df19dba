import { APIGateway } from '@aws-sdk/client-api-gateway';
import type { Hooks, PluginUtils, Serverless, Service } from '../framework-types.ts';
import { findRollbackTriggers, noRollbackTriggers } from './rollback-triggers.ts';
import { findStack, type StageStack, stackNameOf } from './stack.ts';
import { isTemporary } from './target.ts';

type Log = PluginUtils['log'];

interface ChangeSetPlugin {
  getCreateChangeSetParams(options: unknown): object;
}

/** Serverless plugin for what the framework leaves open about an update and a removal of the stack. */
export default class UpdatePlugin {
  readonly hooks: Hooks;

  constructor(serverless: Serverless, options: { verbose?: boolean }, { log }: PluginUtils) {
    const { service } = serverless;
    this.hooks = {
      initialize: () => waitForRollback(options),
      'after:aws:package:finalize:mergeCustomProviderResources': () => shareLogsRole(serverless),
      'before:aws:deploy:deploy:createStack': async () => {
        const config = await serverless.getProvider('aws').getAwsSdkV3Config();
        const stack = await findStack(nameStack(serverless), config);
        adoptRetainedTable(serverless);
        await watchRollbackAlarm(service, stack, config);
        if ('RestoredTable' in (stack?.parameters ?? {})) keepRestoredTable(service);
      },
      'after:deploy:deploy': () => reportUnreadAlarms(serverless, log),
      'before:rollback:rollback': () => {
        service.provider.rollbackConfiguration = noRollbackTriggers; // no alarm rolls back a rollback
        keepRestoredTable(service);
      },
      'after:remove:remove': () => reportTable(serverless, log),
      error: (error) => reportReplacedFiles(serverless, log, error),
    };
  }
}

function stageOf(serverless: Serverless): string {
  return serverless.getProvider('aws').getStage();
}

function nameStack(serverless: Serverless): string {
  return stackNameOf(stageOf(serverless), serverless.service.service);
}

/**
 * Makes a failed update end when CloudFormation has rolled it back. By default, the framework ends at the first failed
 * resource. The option does not make it print more.
 */
function waitForRollback(options: { verbose?: boolean }): void {
  options.verbose = true;
}

/**
 * API Gateway has one role for all access logs of a region. A temporary stage uses the role that is there, and makes one
 * only when there is none, because other stages need the role after its removal.
 */
async function shareLogsRole(serverless: Serverless): Promise<void> {
  const { processedInput, service } = serverless;
  if (processedInput.commands[0] !== 'deploy' || !isTemporary(stageOf(serverless))) return;
  const config = await serverless.getProvider('aws').getAwsSdkV3Config();
  const { cloudwatchRoleArn } = await new APIGateway(config).getAccount({});
  if (cloudwatchRoleArn === undefined) return;
  const { Resources } = service.provider.compiledCloudFormationTemplate;
  for (const name of ['ApiGatewayAccount', 'ApiGatewayLogsRole']) delete Resources[name];
  delete Resources.ApiGatewayStage?.DependsOn;
}

/**
 * Lets CloudFormation import the table that a removed stack left behind, with its books, because the template names it. The
 * framework has no setting for that.
 */
function adoptRetainedTable({ pluginManager }: Serverless): void {
  const plugins = pluginManager.plugins.filter(
    (plugin): plugin is ChangeSetPlugin => 'getCreateChangeSetParams' in plugin,
  );
  if (plugins.length === 0) throw new Error('the framework has no plugin that makes change sets');
  for (const plugin of plugins) {
    const getParams = plugin.getCreateChangeSetParams.bind(plugin);
    plugin.getCreateChangeSetParams = (options) => ({ ...getParams(options), ImportExistingResources: true });
  }
}

/** Lets an alarm roll an update back. */
async function watchRollbackAlarm({ custom, provider }: Service, stack: StageStack | undefined, config: object) {
  const minutes = Number(custom.parameters.monitoringMinutes);
  provider.rollbackConfiguration = await findRollbackTriggers(stack, minutes, config);
}

/** Keeps the table that `npm run restore` has chosen. Otherwise CloudFormation would use the default in the template. */
function keepRestoredTable({ provider }: Service): void {
  provider.stackParameters = [{ ParameterKey: 'RestoredTable', UsePreviousValue: true }];
}

/** Says when nobody receives the alarms of a permanent stage. */
function reportUnreadAlarms(serverless: Serverless, log: Log): void {
  const stage = stageOf(serverless);
  if (isTemporary(stage) || serverless.service.custom.parameters.alarmEmail !== '') return;
  log.notice(`Nobody receives the alarms of ${stage}: set alarmEmail in serverless/stages.yml.`);
}

/** Says what has become of the table of a removed stage. */
function reportTable(serverless: Serverless, log: Log): void {
  log.notice(
    isTemporary(stageOf(serverless))
      ? 'The table and its books are deleted.'
      : `The books are kept. The next deploy of this stage uses the table ${nameStack(serverless)}.`,
  );
}

/** Says when another command has replaced the files of this one. */
function reportReplacedFiles(serverless: Serverless, log: Log, error?: NodeJS.ErrnoException): void {
  if (error?.code !== 'ENOENT' || !error.path?.includes('.serverless')) return;
  const command = `aws cloudformation describe-stacks --stack-name ${nameStack(serverless)}`;
  log.notice(`Another command in this clone has replaced .serverless. The stage may be updated: ${command}`);
}
