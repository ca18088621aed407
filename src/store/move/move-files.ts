/** Moves the files that rows speak of, one by one. One that is at the target already is left, so that a move which was stopped goes on. */
import type { AskRows } from "../ask-rows.ts";
import type { FilePlace, NamedFile } from "./file-places.ts";

export interface MovedFiles {
  readonly files: number;
  readonly bytes: number;
  /** On neither side, so that nothing could be moved: the gateway did without them before. */
  readonly missing: readonly string[];
  /** Whose copies differ from the source; empty after a good move. */
  readonly differing: readonly string[];
}

interface FileMove {
  readonly from: FilePlace;
  readonly to: FilePlace;
  progress(done: number, all: number): void;
}

/** A conversation may be the current one of a session, or one that was put aside. */
const SESSION_FILES = `select file as name, max(settled_bytes) as bytes
  from (select file, settled_bytes from sessions union all select file, settled_bytes from conversations) as kept
  where settled_bytes > 0 group by file order by file`;
const MEDIA_FILES = "select 'media/' || id as name, bytes from media order by id";

export async function listFiles(ask: AskRows): Promise<readonly NamedFile[]> {
  return [...(await ask<NamedFile>(SESSION_FILES)), ...(await ask<NamedFile>(MEDIA_FILES))];
}

/** Each is read again from the target when it was written. */
export async function moveFiles(
  { from, to, progress }: FileMove,
  files: readonly NamedFile[],
  signal: AbortSignal,
): Promise<MovedFiles> {
  const [missing, differing]: [string[], string[]] = [[], []];
  let [moved, bytes] = [0, 0];
  for (const [index, file] of files.entries()) {
    signal.throwIfAborted();
    const outcome = await moveFile({ from, to }, file);
    if (outcome === "missing") missing.push(file.name);
    else if (outcome === "differs") differing.push(file.name);
    else {
      moved++;
      bytes += file.bytes;
    }
    progress(index + 1, files.length);
  }
  return { files: moved, bytes, missing, differing };
}

async function moveFile(
  { from, to }: Pick<FileMove, "from" | "to">,
  file: NamedFile,
): Promise<"moved" | "missing" | "differs"> {
  const digest = await from.digest(file);
  // what an earlier version kept on the disk of this machine alone may be nowhere but at the target
  if (digest === null) return (await to.digest(file)) === null ? "missing" : "moved";
  if ((await to.digest(file)) === digest) return "moved";
  await to.write(file, { digest, pieces: from.read(file) });
  return (await to.digest(file)) === digest ? "moved" : "differs";
}
