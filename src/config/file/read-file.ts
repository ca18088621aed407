/** Reads a configuration file with a limit. What cannot be read is an answer, not an exception. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { MAX_CONFIG_BYTES } from "../check/tree.ts";
import { errorCode } from "./write-file.ts";

type ReadText =
  | { readonly kind: "text"; readonly text: string; readonly mode: number }
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable"; readonly because: string };

export async function readConfigText(path: string, links: "follow" | "refuse"): Promise<ReadText> {
  // Non-blocking, so that a named pipe in this place cannot hold up the start.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (links === "refuse" ? constants.O_NOFOLLOW : 0);
  try {
    const file = await open(path, flags);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) return unreadable("It is not a file.");
      const bytes = await readUpTo(file, MAX_CONFIG_BYTES);
      if (bytes === null) return unreadable(`It is larger than ${MAX_CONFIG_BYTES / 1024} KiB.`);
      const text = decode(bytes);
      return text === null ? unreadable("It is not UTF-8 text.") : { kind: "text", text, mode: stat.mode };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return { kind: "missing" };
    return unreadable(code === "EACCES" ? "The gateway's user may not read it." : `The system says ${code ?? "no"}.`);
  }
}

/** Null: there is more. The size that the system tells is of before, and a file may grow while it is read. */
async function readUpTo(file: FileHandle, maxBytes: number): Promise<Uint8Array | null> {
  const room = new Uint8Array(maxBytes + 1);
  let filled = 0;
  while (filled < room.length) {
    const { bytesRead } = await file.read(room, filled, room.length - filled);
    if (bytesRead === 0) return room.subarray(0, filled);
    filled += bytesRead;
  }
  return null;
}

const unreadable = (because: string): ReadText => ({ kind: "unreadable", because });

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null; // the caller says it in words
  }
}
