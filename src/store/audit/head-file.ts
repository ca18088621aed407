/**
 * The newest link, kept in a file of its own beside the database: whoever puts an older copy of the database in place, or cuts off its end,
 * has to change this file as well, and cannot without the key. Written now and then and at the end; a failure is logged and hurts no call.
 */
import { renameSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../kit/clock.ts";
import { parseJson } from "../../kit/json.ts";
import type { Log } from "../../kit/log.ts";
import { PRIVATE_FILE } from "../private-files.ts";
import type { ChainKey, Link } from "./links.ts";

const HEAD_FILE = "audit-head.json";
export const EVERY_LINKS = 100;
const EVERY_MS = 60_000;
const LIMITS = { maxChars: 4_096, maxDepth: 3 };

export interface HeadFile {
  /** Called after each commit; decides itself whether it is time. */
  noteCommitted(head: Link): void;
  close(head: Link): void;
}

interface WrittenHead extends Link {
  readonly mac: string;
}

export function createHeadFile(
  deps: { readonly clock: Clock; readonly log: Log; readonly key: ChainKey },
  home: string,
): HeadFile {
  const path = join(home, HEAD_FILE);
  let written = { no: 0, at: Number.NEGATIVE_INFINITY }; // the first link is noted at once

  const textOf = (head: Link): string =>
    `${JSON.stringify({ ...head, mac: deps.key.markMac("file", head), at: deps.clock.now() })}\n`;

  /** Synchronous: an asynchronous write of an older link could end last, and replace the newest. */
  const write = (head: Link): void => {
    try {
      writeFileSync(`${path}.new`, textOf(head), { mode: PRIVATE_FILE });
      renameSync(`${path}.new`, path);
    } catch (error) {
      deps.log.warn("newest link of the audit chain not noted", { error });
    }
  };

  return {
    noteCommitted(head) {
      const isTime = head.no - written.no >= EVERY_LINKS || deps.clock.elapsed() - written.at >= EVERY_MS;
      if (!isTime || head.no === written.no) return;
      written = { no: head.no, at: deps.clock.elapsed() };
      write(head);
    },
    close(head) {
      if (head.no > 0) write(head); // else nothing was called yet
    },
  };
}

/** Null: there is no file. `unreadable`: the file holds something else. */
export async function readHeadFile(home: string): Promise<WrittenHead | "unreadable" | null> {
  const text = await readFile(join(home, HEAD_FILE), "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    return "";
  });
  if (text === null) return null;
  const parsed = parseJson(text, LIMITS);
  const { no, hash, mac } = (parsed.ok && typeof parsed.value === "object" ? (parsed.value ?? {}) : {}) as Partial<
    Record<keyof WrittenHead, unknown>
  >;
  if (typeof no !== "number" || typeof hash !== "string" || typeof mac !== "string") return "unreadable";
  return { no, hash, mac };
}
