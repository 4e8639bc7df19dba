import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A writer of the Serverless Framework, one per plugin. */
export interface PluginLog {
  readonly info: (...args: unknown[]) => void;
  readonly notice: (...args: unknown[]) => void;
}

/**
 * Moves the notices of serverless-offline to the level of information, which `--verbose` shows. It writes six lines
 * around each request, between which the service's own log line is hard to find.
 *
 * @param log - this plugin's writer
 */
export async function quietOffline(log: PluginLog): Promise<void> {
  const mainModule = createRequire(import.meta.url).resolve('serverless-offline');
  const { setLogUtils } = await import(pathToFileURL(join(dirname(mainModule), 'utils/log.js')).href);
  setLogUtils({ log: Object.create(log, { notice: { value: log.info } }) });
}
