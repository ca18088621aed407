/** Retention: what grows, the settings that bound it, and how much there is of it. */
import type { StorageReport } from "../contracts/storage.ts";
import { removeSessionCopies } from "../agents/index.ts";
import { createKeptSizes, type Kind, retentionKinds, startRetention, storageReport } from "../retention/index.ts";
import { type Core, ofModule } from "./core.ts";

function settings({ config }: Pick<Core, "config">) {
  const { retention, tools } = config();
  return { ...retention, toolCallsDays: tools.keepDays };
}

export function beginRetention(whole: Core): AsyncDisposable {
  const core = ofModule(whole, "retention");
  const { clock, log, events, store } = core;
  const kinds = retentionKinds({ clock, events, store }, () => settings(core));
  return startRetention({ clock, log }, [...kinds, ...copiesOfFiles(core)]);
}

/** Where files are in the database, the disk has copies of them, also of those that another gateway has deleted. */
function copiesOfFiles({ store, options }: Core): readonly Kind[] {
  if (store.sessionFiles.isLocal) return [];
  const drop: Kind["drop"] = async ({ before }) => {
    const sessions = await removeSessionCopies(options.home, before, store.sessionFiles);
    return { dropped: sessions + (await store.media.removeCopies(before)), next: null };
  };
  return [{ name: "copies of deleted files", keepDays: () => 1, drop }];
}

export function storageOf(core: Core): (signal: AbortSignal) => Promise<StorageReport> {
  const { clock, store } = core;
  const retention = createKeptSizes({ clock, retention: store.retention });
  return (signal) => storageReport({ retention, settings: () => settings(core) }, signal);
}
