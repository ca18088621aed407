/** Retention: what grows, the settings that bound it, and how much there is of it. */
import type { StorageReport } from "../contracts/storage.ts";
import { retentionKinds, startRetention, storageReport } from "../retention/index.ts";
import type { Core } from "./core.ts";

function settings({ config }: Pick<Core, "config">) {
  const { retention, tools } = config();
  return { ...retention, toolCallsDays: tools.keepDays };
}

export function beginRetention(core: Core): AsyncDisposable {
  const { clock, log, events, store } = core;
  return startRetention(
    { clock, log },
    retentionKinds({ clock, events, store }, () => settings(core)),
  );
}

export function storageOf(core: Core): (signal: AbortSignal) => Promise<StorageReport> {
  const { store } = core;
  return (signal) => storageReport({ retention: store.retention, settings: () => settings(core) }, signal);
}
