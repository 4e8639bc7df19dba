import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { corsHeaders, renderGatewayResponse } from '../deploy/gateway-responses.ts';
import type { Hooks, Serverless, Service } from '../framework.ts';
import { createConsoleLog } from './console-log.ts';
import { requireFreePort } from './free-port.ts';
import { FunctionLoader, type LoadedFunction } from './functions.ts';
import { createGateway } from './gateway.ts';
import { loadLocalConfig } from './local-config.ts';
import { formatReadyMessage } from './ready-message.ts';
import { StartError } from './start-error.ts';
import { startStorage } from './start-storage.ts';
import { watchFiles } from './watch-files.ts';

/** Longer would leave a stop hanging on clients that do not read their responses. */
const stopTimeoutMs = 1_000;

/** As in Lambda; the framework sets it to infinity, which makes each error ten times as expensive. */
const stackTraceLimit = 10;

/** What the command was given. */
interface Options {
  readonly host: string;
  readonly httpPort: string;
}

/**
 * Serverless plugin for the command `serverless offline`, a complete local service: configuration, storage, table and
 * functions are ready before anything listens. The functions run in this process, from their sources, which are loaded
 * again when they change. Other commands do not notice it.
 */
export default class LocalServicePlugin {
  readonly commands = {
    offline: {
      usage: 'Runs the whole service on this machine',
      lifecycleEvents: ['start'],
      options: {
        host: { usage: 'Address to listen on', type: 'string', default: '127.0.0.1' },
        httpPort: { usage: 'Port to listen on', type: 'string', default: '8080' },
      },
    },
  };
  readonly hooks: Hooks;

  constructor(serverless: Serverless, options: Options) {
    this.hooks = {
      'offline:start': async () => {
        try {
          await run(serverless, options);
        } catch (error) {
          throw error instanceof StartError ? new serverless.classes.Error(error.message) : error;
        }
      },
    };
  }
}

async function run(serverless: Serverless, { host, httpPort }: Options): Promise<void> {
  Error.stackTraceLimit = stackTraceLimit;
  const { serviceDir, service } = serverless;
  const port = Number(httpPort);
  await requireFreePort(host, port);
  const config = loadLocalConfig(serviceDir, process.env);
  const log = createConsoleLog(process.env.LOG_FORMAT, serviceDir);
  const storage = await startStorage(config, log.logNotice);
  Object.assign(process.env, {
    SECRET_TOKEN: config.signingSecret,
    AUTH_USERNAME: config.credentials.username,
    AUTH_PASSWORD: config.credentials.password,
    DB_URL: storage.url,
    CORS_ORIGIN: config.corsOrigin ?? '',
  });

  const loader = new FunctionLoader(serviceDir);
  let functions: readonly LoadedFunction[] = await loader.load(service.functions, service.provider.timeout);
  const headers = config.corsOrigin === undefined ? {} : corsHeaders(config.corsOrigin);
  const gateway = createGateway({
    functions: () => functions,
    render: (type) => renderGatewayResponse(type, headers),
    corsOrigin: config.corsOrigin,
    onResponse: log.logRequest,
    onError: (error) => log.logError('A function failed', error),
  });
  gateway.listen(port, host);
  await once(gateway, 'listening');

  const definition = join(serviceDir, serverless.configurationFilename);
  const reload = async () => {
    const startedAt = performance.now();
    try {
      const { functions: changed, provider }: Service = parse(await readFile(definition, 'utf8'), {
        logLevel: 'silent',
      });
      functions = await loader.load(changed, provider.timeout);
      log.logNotice(`Reloaded in ${(performance.now() - startedAt).toFixed(0)} ms`);
    } catch (error) {
      log.logError('The change cannot be loaded, so the version before it goes on', error);
    }
  };
  const stopWatching = watchFiles(serviceDir, ['handlers', 'lib', serverless.configurationFilename], reload);

  process.stdout.write(formatReadyMessage(`http://${host}:${port}`, storage.description, config.credentials));
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  stopWatching();
  gateway.close();
  setTimeout(() => process.exit(), stopTimeoutMs);
  await once(gateway, 'close');
  process.exit();
}
