/** The files of transcripts: their names, how they make room for new ones, and which are too old. Touches nothing that is not named like one. */
import { lstatSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { SessionKey } from "../../contracts/ids.ts";
import { type FileDisk, namesIn, systemDisk } from "../private-files.ts";

export interface TranscriptDisk extends FileDisk {
  rename(from: string, to: string): void;
}

export const transcriptDisk: TranscriptDisk = { ...systemDisk, rename: (from, to) => renameSync(from, to) };

const MAX_READABLE_CHARS = 80;
const DIGEST_CHARS = 12;
const NAME = /^[a-z0-9_-]{0,80}~[0-9a-f]{12}(?:\.\d{1,3})?\.md$/;
const DAY_MS = 86_400_000;
/** Whatever the retention says, no more files than this stay: a bound on disk use. */
const MAX_FILES = 5_000;

/** Readable, harmless in any file system, and another one for another session: the digest tells apart what the readable part does not. */
export function transcriptName(key: SessionKey): string {
  const readable = key
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "_")
    .slice(0, MAX_READABLE_CHARS);
  const digest = new Bun.CryptoHasher("sha256").update(key).digest("hex").slice(0, DIGEST_CHARS);
  return `${readable}~${digest}`;
}

/** `name.md` is the newest; `name.1.md` the one before it, and so on. */
export function fileNames(name: string, keep: number): readonly string[] {
  return [`${name}.md`, ...Array.from({ length: keep }, (_, index) => `${name}.${index + 1}.md`)];
}

/** Moves every file one place on and drops the last, so that `name.md` is free. */
export function makeRoom(disk: TranscriptDisk, folder: string, names: readonly string[]): void {
  for (const [index, name] of names.entries().toArray().toReversed()) {
    const path = join(folder, name);
    if (!lstatSync(path, { throwIfNoEntry: false })) continue;
    const next = names[index + 1];
    if (next === undefined) disk.remove(path);
    else disk.rename(path, join(folder, next));
  }
}

/** Not written to for longer than the retention, or more than the folder may hold. */
export function removeExpired(disk: TranscriptDisk, folder: string, now: number, retentionDays: number): void {
  const files = filesIn(folder).sort((a, b) => b.changedAt - a.changedAt);
  const tooOld = now - retentionDays * DAY_MS;
  for (const [index, { name, changedAt }] of files.entries()) {
    if (changedAt >= tooOld && index < MAX_FILES) continue;
    try {
      disk.remove(join(folder, name));
    } catch {
      // Gone already or not ours to delete; the next day tries again.
    }
  }
}

/** Every file of this name, however many are kept. */
export function removeFiles(disk: TranscriptDisk, folder: string, name: string): void {
  for (const file of filesIn(folder))
    if (file.name.replace(/(?:\.\d{1,3})?\.md$/, "") === name) disk.remove(join(folder, file.name));
}

function filesIn(folder: string): { readonly name: string; readonly changedAt: number }[] {
  return namesIn(folder)
    .filter((name) => NAME.test(name))
    .flatMap((name) => {
      const info = lstatSync(join(folder, name), { throwIfNoEntry: false });
      return info?.isFile() ? [{ name, changedAt: info.mtimeMs }] : [];
    });
}
