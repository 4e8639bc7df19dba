import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';

/** An editor writes a file in several steps, and several files at once. */
const quietMs = 50;

/**
 * Watches the sources of the service.
 *
 * @param directory - its folder
 * @param names - files and folders in it; folders with all that is in them
 * @param onChange - is called once for changes that follow each other at once
 * @returns what ends it when it is called
 */
export function watchFiles(directory: string, names: readonly string[], onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watchers: FSWatcher[] = names.map((name) =>
    watch(join(directory, name), { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(onChange, quietMs);
    }),
  );
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
