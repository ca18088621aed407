/** Says when something below one of these folders may have changed. Folders may come and go; never reads a file itself. */
import { type FSWatcher, statSync, watch } from "node:fs";
import type { Clock } from "../kit/clock.ts";
import { debounced } from "../kit/debounce.ts";
import { deferred, orAborted } from "../kit/deferred.ts";

/** A copy is many steps; this long without another one counts as done. */
const QUIET_MS = 120;
const REOPEN_AFTER_MS = 1_000;

export function watchFolders(
  { clock }: { readonly clock: Clock },
  folders: readonly string[],
  onChange: () => void,
): AsyncDisposable {
  const stopping = new AbortController();
  const touch = debounced(clock, QUIET_MS, onChange, stopping.signal);
  const loops = folders.map((folder) => watchOne(clock, folder, touch, stopping.signal));
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("plugins are no longer watched"));
      await Promise.all(loops);
    },
  };
}

/** Lives until stopped: a folder that is not there is looked for again, and its coming counts as a change. */
async function watchOne(clock: Clock, folder: string, touch: () => void, stopping: AbortSignal): Promise<void> {
  let missed = false;
  while (!stopping.aborted) {
    const gone = deferred<void>();
    const watcher = openWatcher(folder, touch, gone.resolve);
    if (watcher) {
      if (missed) touch();
      await orAborted(gone.promise, stopping).catch(() => undefined); // stopped: the loop ends by itself
      watcher.close();
      if (stopping.aborted) return;
      touch();
    }
    missed = true;
    await clock.sleep(REOPEN_AFTER_MS, stopping).catch(() => undefined); // the same
  }
}

function openWatcher(folder: string, touch: () => void, gone: () => void): FSWatcher | null {
  const inode = inodeOf(folder);
  if (inode === null) return null;
  try {
    const watcher = watch(folder, { persistent: false, recursive: true }, () => {
      touch();
      if (inodeOf(folder) !== inode) gone();
    });
    watcher.on("error", () => gone());
    return watcher;
  } catch {
    return null; // gone in between, or closed to us: tried again
  }
}

function inodeOf(folder: string): number | null {
  return statSync(folder, { throwIfNoEntry: false })?.ino ?? null;
}
