/** Small files of JSON that only their owner can read, in the state directory: whole or not at all, never followed through a link. */
import { lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { parseJson } from "../kit/json.ts";
import { PRIVATE_FOLDER } from "./private-files.ts";
import { writeSecretFile } from "./secret-files.ts";

const MAX_DEPTH = 100;

/** Undefined: there is none, it is too large, or it is no JSON. What it holds is for the caller to check. */
export function readPrivateJson(path: string, maxChars: number): unknown {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size > maxChars) return undefined;
  const parsed = parseJson(readFileSync(path, "utf8"), { maxChars, maxDepth: MAX_DEPTH });
  return parsed.ok ? parsed.value : undefined;
}

export function writePrivateJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
  writeSecretFile(path, JSON.stringify(value));
}

/** With all that is in it. */
export function removePrivateFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
