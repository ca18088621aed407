/** Puts the last good settings in the place of a configuration file that is broken. A copy of the broken one stays beside it. */
import { join } from "node:path";
import { replaceConfig } from "./edit-file.ts";
import { LAST_GOOD_NAME } from "./load.ts";
import { readConfigText } from "./read-file.ts";

/** The text whose settings are in force; null: there is none. */
export async function textInForce(home: string, file: string | null, applied: boolean): Promise<string | null> {
  if (file === null) return null;
  const read = await readConfigText(applied ? file : join(home, LAST_GOOD_NAME), applied ? "follow" : "refuse");
  return read.kind === "text" ? read.text : null;
}

export async function hasLastGood(home: string): Promise<boolean> {
  return (await readConfigText(join(home, LAST_GOOD_NAME), "refuse")).kind === "text";
}

/** Sentences about why nothing was changed; empty: it is done. */
export async function revertConfig(home: string, path: string): Promise<readonly string[]> {
  const kept = await readConfigText(join(home, LAST_GOOD_NAME), "refuse");
  if (kept.kind !== "text") return ["There are no last good settings to go back to."];
  const now = await readConfigText(path, "follow");
  if (now.kind !== "text" && now.kind !== "missing") return [`${path} cannot be read. Nothing was changed.`];
  const edit = await replaceConfig(path, kept.text, now.kind === "text" ? now.text : null);
  return edit.kind === "refused" ? edit.problems : [];
}
