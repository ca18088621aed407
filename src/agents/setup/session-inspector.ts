/**
 * Looks at session files that are opened again and again. What was in order once is not read line by line a second time while its digest is
 * the same: only what was added since is. Whatever is not plain goes the long way, which finds and names every flaw.
 */
import { open } from "node:fs/promises";
import { parseJson } from "../../kit/json.ts";
import { isFields } from "../talk/protocol.ts";
import { inspectSessionFile, LINE_LIMITS, type SessionFileState } from "./damaged-session.ts";

export type InspectSession = typeof inspectSessionFile;

/** A longer file is read in pieces, all of it. */
const MAX_AT_ONCE_BYTES = 4 * 1024 * 1024;
/** Files that are remembered; others are read line by line once more. */
const MAX_REMEMBERED = 2_000;
const LINE_FEED = 10;

/** The beginning of a file that was in order. */
interface Inspected {
  readonly bytes: number;
  readonly digest: string;
  readonly state: SessionFileState;
}

export function createSessionInspector(inspect: InspectSession = inspectSessionFile): InspectSession {
  const known = new Map<string, Inspected>();
  const remember = (path: string, inspected: Inspected): void => {
    known.delete(path); // to the end of the line
    known.set(path, inspected);
    const [oldest] = known.keys();
    if (known.size > MAX_REMEMBERED && oldest !== undefined) known.delete(oldest);
  };

  return async (path, settledBytes) => {
    const data = settledBytes <= MAX_AT_ONCE_BYTES ? await beginningOf(path, settledBytes) : null;
    const before = known.get(path);
    const digest = data && before ? digestOfGrown(before, data) : null;
    if (data && before && digest !== null) {
      remember(path, { ...before, bytes: data.byteLength, digest });
      return before.state;
    }
    known.delete(path);
    const state = await inspect(path, settledBytes);
    if (data && state.flaw === null) remember(path, { bytes: data.byteLength, digest: digestOf(data), state });
    return state;
  };
}

/** Null when the file is shorter, or cannot be read. */
async function beginningOf(path: string, bytes: number): Promise<Buffer | null> {
  const file = await open(path, "r").catch(() => null); // whoever looks at it closely says what is wrong
  if (!file) return null;
  try {
    const data = Buffer.alloc(bytes);
    const { bytesRead } = await file.read(data, 0, bytes, 0);
    return bytesRead === bytes ? data : null;
  } finally {
    await file.close();
  }
}

/** Of all of it, when it begins with what was in order and goes on with whole entries that follow on others; else null. */
function digestOfGrown({ bytes, digest }: Inspected, data: Buffer): string | null {
  if (bytes > data.byteLength) return null;
  const hasher = new Bun.CryptoHasher("sha256").update(data.subarray(0, bytes));
  if (hasher.copy().digest("hex") !== digest) return null;
  if (data.byteLength > bytes && data.at(-1) !== LINE_FEED) return null;
  const ids = new Set<string>();
  const added = data.toString("utf8", bytes).split("\n");
  const isWhole = added.every((line) => line.trim() === "" || isEntry(line, data.subarray(0, bytes), ids));
  return isWhole ? hasher.update(data.subarray(bytes)).digest("hex") : null;
}

/** `before`: what stands before the lines that were added; pi writes ids as JSON.stringify does, so one that it has is found as text. */
function isEntry(line: string, before: Buffer, ids: Set<string>): boolean {
  const parsed = parseJson(line, LINE_LIMITS);
  const entry = parsed.ok && isFields(parsed.value) ? parsed.value : null;
  if (entry === null || typeof entry.type !== "string") return false;
  const { id, parentId } = entry;
  const follows =
    typeof parentId !== "string" || ids.has(parentId) || before.includes(`"id":${JSON.stringify(parentId)}`);
  if (typeof id === "string") ids.add(id);
  return follows;
}

function digestOf(data: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(data).digest("hex");
}
