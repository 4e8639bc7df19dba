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
import { formatBaseUrl, formatReadyMessage } from './ready-message.ts';
import { StartError } from './start-error.ts';

interface Options {
  readonly host: string;
  /** `null` after `--port=`. */
  readonly port?: string | null;
  readonly httpPort?: string | null;
}

const defaultPort = '8080';

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
        port: { usage: `Port to listen on (${defaultPort})`, type: 'string' },
        httpPort: { usage: 'The same, by its name in serverless-offline', type: 'string' },
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
  const port = readPort(options);
  const config = loadLocalConfig(serviceDir, process.env);
  const { username, password, corsOrigin } = config;
  const log = createConsoleLog(config.logFormat, serviceDir);
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
  log.print(formatReadyMessage(formatBaseUrl(options.host, boundPort), storage.description, { username, password }));
}

const causes: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process is listening there',
  EACCES: 'this user may not listen there', // mostly a port below 1024
  EADDRNOTAVAIL: 'that address is not one of this machine',
  ENOTFOUND: 'no address has that name',
  EAI_AGAIN: 'no address has that name',
};

function readPort({ port, httpPort }: Options): number {
  if (port !== undefined && httpPort !== undefined) {
    throw new StartError('--port and --httpPort are two names of one option. Leave one out.');
  }
  const given = [port, httpPort, defaultPort].find((value) => value !== undefined) ?? '';
  if (!/^\d+$/.test(given) || Number(given) > 65_535) {
    throw new StartError(`"${given}" is not a port, a number from 0 to 65535.`);
  }
  return Number(given);
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    const problem = `Port ${port} on ${host} cannot be used: ${causes[code] ?? message}.`;
    const isPort = code === 'EADDRINUSE' || code === 'EACCES';
    const advice = isPort ? 'Start on another one, for example with:' : 'Listen on this machine alone with:';
    const options = isPort ? '--host 127.0.0.1 --port 8081' : '--host 127.0.0.1';
    throw new StartError(`${problem} ${advice} npm start -- ${options}`, { cause });
  }
}
