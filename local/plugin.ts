import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readableHeaders } from '../infrastructure/cors.ts';
import { type GatewayResponseType, renderGatewayResponse } from '../infrastructure/gateway-responses.ts';
import { requireFreePort } from './free-port.ts';
import { replaceHapiServer } from './hapi.ts';
import { loadLocalConfig } from './local-config.ts';
import { actAsGateway, gatewayOptions } from './local-gateway.ts';
import { type PluginLog, quietOffline } from './quiet-offline.ts';
import { formatReadyMessage } from './ready-message.ts';
import type { Serverless } from './serverless.ts';
import { StartError } from './start-error.ts';
import { startStorage } from './start-storage.ts';

/** Longer would leave a stop hanging on clients that keep their connections open. */
const stopTimeoutMs = 1_000;

interface OfflineOptions {
  readonly host: string;
  readonly httpPort: number | string;
  /** The folder of the bundles, which serverless-esbuild sets. */
  readonly location: string;
}

/**
 * Serverless plugin that makes `serverless offline` a complete local service: configuration, storage and table are
 * ready before anything listens, and the local server answers as API Gateway does. Other commands do not notice it.
 */
export default class LocalServicePlugin {
  readonly hooks: Readonly<Record<string, () => Promise<void>>>;
  readonly #serverless: Serverless;
  readonly #cliOptions: Partial<OfflineOptions>;
  readonly #log: PluginLog;

  constructor(
    serverless: Serverless,
    cliOptions: Partial<OfflineOptions>,
    { log }: { readonly log: PluginLog },
  ) {
    this.#serverless = serverless;
    this.#cliOptions = cliOptions;
    this.#log = log;
    const prepare = () => this.#prepare();
    // `serverless offline` fires the first, `serverless offline start` the second.
    this.hooks = { 'before:offline:start': prepare, 'before:offline:start:init': prepare };
  }

  async #prepare(): Promise<void> {
    const { host, httpPort } = this.#offlineOptions();
    try {
      await requireFreePort(host, Number(httpPort));
      const config = loadLocalConfig(this.#serverless.serviceDir, process.env);
      const storage = await startStorage(config);
      this.#configureFunctions({
        SECRET_TOKEN: config.signingSecret,
        AUTH_USERNAME: config.credentials.username,
        AUTH_PASSWORD: config.credentials.password,
        DB_URL: storage.url,
        RESPONSE_TRANSFER_MODE: 'BUFFERED',
        CORS_ORIGIN: config.corsOrigin ?? '',
        // The functions share this process.
        NODE_OPTIONS: '',
      });
      await quietOffline(this.#log);
      this.#dressServers(
        formatReadyMessage(`http://${host}:${httpPort}`, storage.description, config.credentials),
        config.corsOrigin,
      );
    } catch (error) {
      throw error instanceof StartError ? new this.#serverless.classes.Error(error.message) : error;
    }
  }

  #offlineOptions(): OfflineOptions {
    return {
      ...(this.#serverless.service.custom['serverless-offline'] as OfflineOptions),
      ...this.#cliOptions,
    };
  }

  /** What serverless.yml says of these settings is for AWS: references that CloudFormation resolves. */
  #configureFunctions(settings: Readonly<Record<string, string>>): void {
    Object.assign(process.env, settings);
    const { provider, functions } = this.#serverless.service;
    for (const { environment } of [provider, ...Object.values(functions)]) {
      for (const name of Object.keys(environment ?? {})) {
        if (environment && settings[name] !== undefined) environment[name] = settings[name];
      }
    }
  }

  /** serverless-offline makes two servers: one for the functions by themselves, and the gateway on `httpPort`. */
  #dressServers(readyMessage: string, corsOrigin: string | undefined): void {
    const corsHeaders = corsOrigin === undefined ? {} : readableHeaders(corsOrigin);
    const render = (type: GatewayResponseType) => renderGatewayResponse(type, corsHeaders);
    const { httpPort } = this.#offlineOptions();
    replaceHapiServer((Server, options) => {
      if (Number(options.port) !== Number(httpPort)) return new Server(options);
      const server = new Server(gatewayOptions(options, render));
      const start = server.start.bind(server);
      const stop = server.stop.bind(server);
      server.start = async () => {
        actAsGateway(server, render, corsOrigin);
        await this.#initializeFunctions();
        await start();
        process.stdout.write(readyMessage);
      };
      server.stop = () => stop({ timeout: stopTimeoutMs });
      return server;
    });
  }

  /**
   * Loads every function's module, which is Lambda's INIT phase, before anything listens. A module that failed to load
   * once would fail for as long as the process lives, even after the storage came back.
   */
  async #initializeFunctions(): Promise<void> {
    const folder = resolve(this.#serverless.serviceDir, this.#offlineOptions().location);
    const modules = Object.values(this.#serverless.service.functions).map(({ handler }) =>
      handler.slice(0, handler.lastIndexOf('.')),
    );
    await Promise.all(modules.map((module) => import(pathToFileURL(join(folder, `${module}.mjs`)).href)));
  }
}
