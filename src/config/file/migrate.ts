/** Rewrites old keys in the configuration file to their new names: comments stay, a backup is kept, a doubtful result is not written. */
import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import type { Log } from "../../kit/log.ts";
import { checkConfigText, type Variables } from "../check/check.ts";
import { diffConfig } from "../diff.ts";
import { migrateText } from "./migrate-text.ts";
import type { Migration } from "../check/old-keys.ts";
import type { ConfigProblem } from "../check/problem.ts";
import { readConfigText } from "./read-file.ts";
import { errorCode, replaceFile, writeBackup } from "./write-file.ts";

export type { Migration } from "../check/old-keys.ts";

export interface MigrationResult {
  readonly migrated: readonly Migration[];
  /** The file as it now is on disk; null when it could not be read. */
  readonly text: string | null;
  /** Where the old text was kept; null when the file was not rewritten. */
  readonly backup: string | null;
  /** Why the file was left as it is although it has old keys. */
  readonly warnings: readonly ConfigProblem[];
}

const ANY_WRITE_BIT = 0o222;

/** A file with problems of its own is left alone: it is the owner's turn first. */
export async function migrateConfig(
  deps: { readonly log: Log },
  path: string,
  variables: Variables,
): Promise<MigrationResult> {
  const target = await realpath(path).catch(() => path); // a linked file is rewritten where it really is
  const read = await readConfigText(target, "follow");
  if (read.kind !== "text") return { migrated: [], text: null, backup: null, warnings: [] };
  const unchanged = { migrated: [], text: read.text, backup: null, warnings: [] };

  const before = checkConfigText(read.text, variables);
  if (!before.config || before.migrated.length === 0) return unchanged;
  const { migrated } = before;
  const leave = (because: string) => ({ ...unchanged, migrated, warnings: [leftAlone(path, migrated, because)] });

  const text = migrateText(read.text);
  const after = checkConfigText(text, variables);
  const same =
    after.config && after.migrated.length === 0 && diffConfig(before.config, after.config).changed.length === 0;
  if (!same) return leave("the gateway could not rewrite it safely");
  if ((read.mode & ANY_WRITE_BIT) === 0) return leave("it is read-only");
  try {
    const backup = await writeBackup(target, read.text);
    const again = await readConfigText(target, "follow");
    if (again.kind !== "text" || again.text !== read.text) return leave("it was being changed at the same moment");
    await replaceFile(target, text);
    deps.log.info("configuration migrated", { path, backup, keys: migrated.map((one) => one.to) });
    return { migrated, text, backup, warnings: [] };
  } catch (error) {
    deps.log.warn("configuration could not be rewritten", { path, error });
    return leave(`the system says ${errorCode(error) ?? "no"}`);
  }
}

function leftAlone(path: string, migrated: readonly Migration[], because: string): ConfigProblem {
  const keys = migrated.map(({ from, to }) => `${from} is now ${to}`).join(", ");
  const message = `${basename(path)} uses old names (${keys}). They still work, but the file was not rewritten: ${because}.`;
  return { path: migrated[0]?.from ?? "", line: 1, column: 1, message };
}
