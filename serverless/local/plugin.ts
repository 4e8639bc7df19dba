import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer, isIPv6, type Server } from 'node:net';
import { join } from 'node:path';
import { watch } from 'chokidar';
import { parse } from 'yaml';
import type { Hooks, Serverless, Service } from '../framework.ts';
import { isLoopback } from './allowed-hosts.ts';
import { createConsoleLog, formatReadyMessage } from './console-log.ts';
import { FunctionLoader, type LoadedFunction } from './functions.ts';
import { createGateway } from './gateway.ts';
import { findKnownSecrets, loadLocalConfig } from './local-config.ts';
import { StartError } from './start-error.ts';
import { startStorage } from './start-storage.ts';
import { onStopSignal } from './stop-signals.ts';

const stopTimeoutMs = 1_000; // for clients that do not read their responses
const maxPort = 65_535;
const quietMs = 50; // an editor writes a file in several steps, and several files at once

const foreignHost =
  'A request was refused: its Host is neither this machine nor the one in --host, as in an attack by DNS rebinding';

interface Options {
  readonly host: string;
  readonly httpPort: string;
}

/**
 * Serverless plugin for the command `serverless offline`, a complete local service. The functions run in this process,
 * from their sources, which are loaded again after a change.
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

async function run(serverless: Serverless, options: Options): Promise<void> {
  Error.stackTraceLimit = 10; // as in Lambda; the framework's infinity makes each error ten times as expensive
  const { serviceDir, service, configurationFilename } = serverless;
  await requireFreePort(options);
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
  let functions: readonly LoadedFunction[] = await loader.load(service);
  let hasRefusedHost = false;
  const gateway = createGateway({
    functions: () => functions,
    host: options.host,
    onForeignHost: () => {
      if (!hasRefusedHost) log.logNotice(foreignHost);
      hasRefusedHost = true;
    },
    corsOrigin: config.corsOrigin,
    onResponse: log.logRequest,
    onError: (error) => log.logError('A function failed', error),
  });
  await listen(gateway, options);

  const reload = async () => {
    const startedAt = performance.now();
    try {
      const definition = await readFile(join(serviceDir, configurationFilename), 'utf8');
      functions = await loader.load(parse(definition, { logLevel: 'silent' }) as Service);
      log.logNotice(`Reloaded in ${(performance.now() - startedAt).toFixed(0)} ms`);
    } catch (error) {
      log.logError('The change cannot be loaded; the version before it still runs', error);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const sources = ['handlers', 'lib', configurationFilename];
  const watcher = watch(sources, { cwd: serviceDir, ignoreInitial: true }).on('all', () => {
    clearTimeout(timer);
    timer = setTimeout(reload, quietMs);
  });
  await once(watcher, 'ready');

  const { address, port } = gateway.address() as AddressInfo;
  const known = isLoopback(address) ? [] : findKnownSecrets(config);
  if (known.length > 0) {
    log.logNotice(
      `WARN Other machines can reach the service with defaults that everybody knows: set ${known.join(' and ')}`,
    );
  }
  const baseUrl = `http://${isIPv6(options.host) ? `[${options.host}]` : options.host}:${port}`;
  process.stdout.write(formatReadyMessage(baseUrl, storage.description, config.credentials));
  await new Promise<void>(onStopSignal);
  gateway.close();
  setTimeout(() => process.exit(), stopTimeoutMs);
  await once(gateway, 'close');
  process.exit();
}

/** Ends a start in vain before it opens the data folder. */
async function requireFreePort(options: Options): Promise<void> {
  const { httpPort } = options;
  if (!/^\d{1,5}$/.test(httpPort) || Number(httpPort) > maxPort)
    throw new StartError(`--httpPort cannot be ${httpPort}: it is a number from 0 to ${maxPort}.`);
  const server = createServer();
  await listen(server, options);
  server.close();
  await once(server, 'close');
}

const otherPort = 'start on another port, for example with: npm start -- --httpPort 8081';

/** Causes and advice, by the code of the error. */
const listenProblems: Readonly<Record<string, [cause: string, advice: string]>> = {
  EADDRINUSE: ['another process is listening there', `Stop the other process, or ${otherPort}`],
  EACCES: ['this user may not listen there', `Ports below 1024 are often reserved: ${otherPort}`],
};

async function listen(server: Server, { host, httpPort }: Options): Promise<void> {
  try {
    server.listen(Number(httpPort), host);
    await once(server, 'listening');
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    const [reason, advice] = listenProblems[code] ?? [message, 'Name an address of this machine in --host.'];
    throw new StartError(`Port ${httpPort} on ${host} cannot be used: ${reason}. ${advice}`, { cause });
  }
}
