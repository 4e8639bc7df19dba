import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import type { Hooks, Serverless } from '../framework-types.ts';
import { createConsoleLog } from './console-log.ts';
import { startStorage } from './engine/start-storage.ts';
import { createFunctionLoader } from './functions/function-loader.ts';
import { reloadOnChange } from './functions/reload.ts';
import { isLoopback } from './gateway/allowed-hosts.ts';
import { createGateway } from './gateway/gateway.ts';
import { findKnownSecrets, loadLocalConfig } from './local-config.ts';
import { formatReadyMessage, listBaseUrls } from './ready-message.ts';
import { StartError } from './start-error.ts';

interface Options {
  readonly host: string;
  readonly port: string;
}

/**
 * Serverless plugin for the command `serverless offline`, which runs a complete local service. The functions run in
 * this process from their sources, and are loaded again after a change.
 */
export default class LocalServicePlugin {
  readonly commands = {
    offline: {
      usage: 'Runs the whole service on this machine',
      lifecycleEvents: ['start'],
      options: {
        host: { usage: 'Address to listen on', type: 'string', default: '127.0.0.1' },
        port: { usage: 'Port to listen on', type: 'string', default: '8080' },
      },
    },
  };
  readonly hooks: Hooks;

  constructor(serverless: Serverless, options: Options) {
    this.hooks = {
      'offline:start': () =>
        run(serverless, options).catch((error) => {
          throw error instanceof StartError ? new serverless.classes.Error(error.message) : error;
        }),
    };
  }
}

async function run(serverless: Serverless, options: Options): Promise<void> {
  // As in Lambda. With the framework's limit, infinity, each error takes ten times as long.
  Error.stackTraceLimit = 10;
  const { serviceDir, service } = serverless;
  const port = readPort(options.port);
  const config = loadLocalConfig(serviceDir, process.env);
  const { username, password, corsOrigin } = config;
  const log = createConsoleLog(serviceDir);
  const storage = await startStorage(config, log.logWarning);
  Object.assign(process.env, config.environment, { DB_URL: storage.url });

  // Without listeners, a signal ends the process at once, even when a handler is in an endless loop. The engine
  // recovers as from a crash. A signal that has already arrived is handled first.
  await new Promise((resolve) => setImmediate(resolve));
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);

  const load = createFunctionLoader(serviceDir);
  let functions = await load(service);
  const gateway = createGateway({ functions: () => functions, host: options.host, corsOrigin, log });
  await listen(gateway, options.host, port);

  await reloadOnChange(serverless, load, log, (loaded) => {
    functions = loaded;
  });

  const { address, port: boundPort } = gateway.address() as AddressInfo;
  const known = isLoopback(address) ? [] : findKnownSecrets(config);
  if (known.length > 0) {
    log.logWarning(
      `Other machines can reach the service with defaults that everybody knows: set ${known.join(' and ')}`,
    );
  }
  const baseUrls = listBaseUrls(options.host, boundPort);
  process.stdout.write(formatReadyMessage(baseUrls, storage.description, { username, password }));
}

function readPort(port: string): number {
  if (!/^\d+$/.test(port) || Number(port) > 65_535) {
    throw new StartError(`"${port}" is not a port, a number from 0 to 65535.`);
  }
  return Number(port);
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    const problem = `Port ${port} on ${host} cannot be used (${(cause as Error).message}).`;
    throw new StartError(`${problem} Take another one, for example: npm start -- --host 127.0.0.1 --port 8081`, {
      cause,
    });
  }
}
