/**
 * Says when the configuration file may have changed. Looks at the file instead of watching its folder: the database lies in the same one, and
 * every write to it would be an event about a neighbour. Follows links, so a change behind one counts. Never reads the file itself.
 */
import { statSync } from "node:fs";
import type { Clock } from "../../kit/clock.ts";
import { debounced } from "../../kit/debounce.ts";
import type { Log } from "../../kit/log.ts";

interface WatchDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/** Editors write in several steps; this long without another one counts as done. */
const QUIET_MS = 200;

const LOOK_EVERY_MS = 500;

export function watchConfig(deps: WatchDeps, path: string, onChange: () => void): AsyncDisposable {
  const stopping = new AbortController();
  const handle = (): void => {
    try {
      onChange();
    } catch (error) {
      deps.log.error("configuration change could not be handled", { error });
    }
  };
  const touch = debounced(deps.clock, QUIET_MS, handle, stopping.signal);
  const looking = look(deps, { path, touch }, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("configuration is no longer watched"));
      await looking;
    },
  };
}

interface Watched {
  readonly path: string;
  readonly touch: () => void;
}

async function look({ clock }: WatchDeps, { path, touch }: Watched, stopping: AbortSignal): Promise<void> {
  let known = stateOf(path);
  while (!stopping.aborted) {
    await clock.sleep(LOOK_EVERY_MS, stopping).catch(() => undefined); // stopped: the loop ends by itself
    const now = stateOf(path);
    if (now !== known) touch();
    known = now;
  }
}

/** Another text for every change that can be seen from outside, a file put in its place included. */
function stateOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch {
    return "not there"; // or closed to us, which whoever reads it will say
  }
}
