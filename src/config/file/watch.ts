/** Says when the configuration file may have changed. Watches the folder, because editors replace files; never reads the file itself. */
import { type FSWatcher, realpathSync, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { deferred, orAborted } from "../../kit/deferred.ts";
import { createDebounce, type WatchDeps } from "./debounce.ts";

const REOPEN_AFTER_MS = 2_000;
/** Mounted configuration volumes swap this link instead of touching the file. */
const MOUNTED_DATA = "..data";

export function watchConfig(deps: WatchDeps, path: string, onChange: () => void): AsyncDisposable {
  const stopping = new AbortController();
  const touch = createDebounce(deps, onChange, stopping.signal);
  // The link and what it leads to may lie in different folders; a change in either counts.
  const loops = placesToWatch(path).map((place) => watchFolder(deps, { place, touch }, stopping.signal));
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("configuration is no longer watched"));
      await Promise.all(loops);
    },
  };
}

function placesToWatch(path: string): readonly string[] {
  try {
    return [...new Set([path, realpathSync(path)])];
  } catch {
    return [path]; // not there yet, or gone for a moment
  }
}

interface Watched {
  readonly place: string;
  readonly touch: () => void;
}

/** Lives until stopped: a folder that vanishes is looked for again, and its return counts as a change. */
async function watchFolder({ clock, log }: WatchDeps, watched: Watched, stopping: AbortSignal): Promise<void> {
  let lost = false;
  while (!stopping.aborted) {
    const opened = openWatcher(watched);
    if (opened) {
      if (lost) watched.touch();
      lost = false;
      await untilGone(opened, stopping);
      if (stopping.aborted) return;
      watched.touch(); // whatever happened to the folder happened to the file
    }
    if (!lost) log.warn("configuration folder cannot be watched, trying again", { path: watched.place });
    lost = true;
    await clock.sleep(REOPEN_AFTER_MS, stopping).catch(() => undefined); // stopped: the loop ends by itself
  }
}

interface OpenedWatcher {
  readonly watcher: FSWatcher;
  /** Resolves when the folder is no longer the one that was opened. */
  readonly gone: Promise<void>;
}

function openWatcher({ place, touch }: Watched): OpenedWatcher | null {
  const folder = dirname(place);
  const name = basename(place);
  const { promise: gone, resolve } = deferred<void>();
  try {
    const inode = inodeOf(folder);
    const watcher = watch(folder, { persistent: false }, (_event, changed) => {
      if (changed === null || changed === name || changed === MOUNTED_DATA) touch();
      // A deleted or moved folder is announced under its own name, as if it were a file in itself, and not as an error.
      if (changed === basename(folder) && inodeOf(folder) !== inode) resolve();
    });
    watcher.on("error", () => resolve());
    return { watcher, gone };
  } catch {
    return null; // the caller reports it and tries again
  }
}

function inodeOf(folder: string): number | null {
  try {
    return statSync(folder).ino;
  } catch {
    return null; // gone, or closed to us: either way not the folder that was opened
  }
}

async function untilGone({ watcher, gone }: OpenedWatcher, stopping: AbortSignal): Promise<void> {
  try {
    await orAborted(gone, stopping);
  } catch (error) {
    if (!stopping.aborted) throw error;
  } finally {
    watcher.close();
  }
}
