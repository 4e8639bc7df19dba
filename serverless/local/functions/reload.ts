import { readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { watch } from 'chokidar';
import { parse } from 'yaml';
import type { Serverless, Service } from '../../framework-types.ts';
import type { LoadedFunction } from './function-loader.ts';

/** A reload waits until no file has changed for this long: editors save in several steps, and several files at once. */
const quietMs = 50;

type Load = (service: Service) => Promise<readonly LoadedFunction[]>;

/** Where people see what has become of a change. */
interface Log {
  readonly logNotice: (text: string) => void;
  readonly logWarning: (text: string) => void;
  readonly logError: (message: string, error: unknown) => void;
}

/**
 * Loads the functions again after each change of handlers/, lib/ and serverless.yml. A change that cannot be loaded is
 * logged, and the functions before it go on. Resolves once changes are noticed, or cannot be.
 *
 * @param use - takes the functions of a change that could be loaded
 */
export async function reloadOnChange(
  { serviceDir, configurationFilename }: Pick<Serverless, 'serviceDir' | 'configurationFilename'>,
  load: Load,
  log: Log,
  use: (functions: readonly LoadedFunction[]) => void,
): Promise<void> {
  let reloads = 0;
  const reload = async () => {
    const startedAt = performance.now();
    reloads += 1;
    const number = reloads;
    // A module may take seconds to load, and a file may change meanwhile.
    const isOutdated = () => number !== reloads;
    try {
      const definition = await readFile(join(serviceDir, configurationFilename), 'utf8');
      // CloudFormation's tags are unknown to the parser, which would warn of each.
      const loaded = await load(parse(definition, { logLevel: 'error' }) as Service);
      if (isOutdated()) return;
      use(loaded);
      log.logNotice(`Reloaded in ${(performance.now() - startedAt).toFixed(0)} ms`);
    } catch (error) {
      if (!isOutdated()) log.logError('The change cannot be loaded; the version before it still runs', error);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  // The folder of serverless.yml is watched, not the file, because a watched file is lost when it is replaced twice.
  const ignored = (path: string) => {
    const [top = ''] = relative(serviceDir, resolve(serviceDir, path)).split(sep);
    return !['', 'handlers', 'lib', configurationFilename].includes(top);
  };
  const watcher = watch('.', { cwd: serviceDir, ignoreInitial: true, ignored })
    .on('all', () => {
      clearTimeout(timer);
      timer = setTimeout(reload, quietMs);
    })
    // Editors and other servers may have used up the watches of the system. The service runs without them.
    .on('error', (error) => {
      if (watcher.closed) return;
      log.logWarning(`Saved changes are loaded at the next start only: ${(error as Error).message}`);
      void watcher.close();
    });
  await new Promise<void>((resolve) => watcher.once('ready', resolve).once('error', () => resolve()));
}
