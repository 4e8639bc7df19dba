import { existsSync, type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** An editor writes a file in several steps, and several files at once. */
const quietMs = 50;

/**
 * Watches the sources of the service. It watches folders and not files, as `watch` with `recursive` does on Linux: many
 * editors, and git, replace a file by a new one, and the watched one is gone.
 *
 * @param directory - its folder
 * @param names - files and folders in it; folders with all that is in them
 * @param onChange - is called once for changes that follow each other at once
 * @returns what ends it when it is called
 */
export function watchFiles(directory: string, names: readonly string[], onChange: () => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  const notify = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      watchAll();
      onChange();
    }, quietMs);
  };
  const watchFolder = (folder: string, only?: string) => {
    if (watchers.has(folder)) return;
    const watcher = watch(folder, (_event, name) => {
      if (only === undefined || name === only) notify();
    });
    watchers.set(folder, watcher);
  };
  const watchAll = () => {
    for (const [folder, watcher] of watchers) {
      if (existsSync(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const path of names.map((name) => join(directory, name))) {
      const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
      if (isFolder) for (const folder of foldersIn(path)) watchFolder(folder);
      else watchFolder(dirname(path), basename(path));
    }
  };
  watchAll();
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}

function foldersIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return [
    folder,
    ...entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name)),
  ];
}
