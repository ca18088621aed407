/**
 * Moves what lies in a shared workspace into one person's own folder below it. Agents have written all of it: names are bytes, links are
 * moved and never followed, and nothing takes the place of something else. Each entry is moved by one rename, so a crash leaves it here or
 * there; the same call again goes on with the rest. The caller sees to it that no agent runs.
 */
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { PEOPLE } from "../../kit/person-folder.ts";
import type { Log } from "../../kit/log.ts";
import { CHECKLIST } from "../setup/checklist.ts";

const PRIVATE_FOLDER = 0o700;
const MAX_SAME_NAMES = 1_000;
/** Added to a name that is taken, or that cannot stay where it is. */
const ASIDE = ".shared";
/** So many entries that cannot be moved are named in the log. */
const MAX_NAMED = 10;

interface Moved {
  readonly moved: number;
  /** Could not be moved, and stay. */
  readonly left: number;
}

export interface MoveDeps {
  readonly log: Log;
  /** Default: that of the system. */
  readonly rename?: typeof rename | undefined;
  /** Told after each entry: with very many of them a move takes a while. */
  goesOn?(): void;
}

/** What is in no person's folder. The checklist stays: the gateway reads it there, whoever the folder belongs to. */
export async function sharedEntries(folder: string): Promise<readonly Buffer[]> {
  const names = await namesIn(folder);
  return names.filter((name) => !name.equals(Buffer.from(PEOPLE)) && !name.equals(Buffer.from(CHECKLIST)));
}

/** Whether there is a folder with something in it. Not through a link. */
export async function holdsSomething(folder: string): Promise<boolean> {
  return (await isFolder(folder)) && (await namesIn(folder)).length > 0;
}

/** Whether `people/` is, or holds, something else than folders of people. `keep`: they may have had some before. */
export async function hasIntruders(folder: string, keep: boolean): Promise<boolean> {
  return (await intruders(folder, keep)).length > 0;
}

/**
 * Makes room for the folders of people: what is in their place becomes an entry of the shared workspace. A link to somewhere else, above all,
 * must not become somebody's workspace.
 */
export async function clearPeople(deps: MoveDeps, folder: string, keep: boolean): Promise<void> {
  const move = deps.rename ?? rename;
  for (const { path, name } of await intruders(folder, keep))
    await move(path, await freeName(folder, Buffer.concat([name, Buffer.from(ASIDE)])));
}

interface Intruder {
  readonly path: Buffer;
  readonly name: Buffer;
}

async function intruders(folder: string, keep: boolean): Promise<readonly Intruder[]> {
  const people = join(folder, PEOPLE);
  const found = await lstat(people).catch(() => null); // usually there is none
  if (found === null) return [];
  if (!keep || !found.isDirectory()) return [{ path: Buffer.from(people), name: Buffer.from(PEOPLE) }];
  const inside: Intruder[] = [];
  for (const name of await namesIn(people)) {
    const path = within(people, name);
    if (!(await isFolder(path))) inside.push({ path, name });
  }
  return inside;
}

/** `into`: below the folder. */
export async function moveSharedFiles(deps: MoveDeps, folder: string, into: string): Promise<Moved> {
  const move = deps.rename ?? rename;
  const target = join(folder, into);
  await mkdir(target, { recursive: true, mode: PRIVATE_FOLDER });
  let moved = 0;
  let left = 0;
  for (const name of await sharedEntries(folder)) {
    try {
      await move(within(folder, name), await freeName(target, name));
      moved++;
    } catch (error) {
      left++;
      if (left <= MAX_NAMED) deps.log.warn("entry of the shared workspace not moved", { name: name.toString(), error });
    }
    deps.goesOn?.();
  }
  for (const changed of [target, folder]) await syncFolder(changed);
  return { moved, left };
}

/** Renames are on the disk only when their folders are. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  await handle.sync();
}

/** A rename would silently replace a file of the same name. */
async function freeName(folder: string, name: Buffer): Promise<Buffer> {
  for (let count = 1; count <= MAX_SAME_NAMES; count++) {
    const candidate = within(folder, count === 1 ? name : Buffer.concat([name, Buffer.from(`.${count}`)]));
    if ((await lstat(candidate).catch(() => null)) === null) return candidate; // nothing there is what is looked for
  }
  throw new Error(`${MAX_SAME_NAMES} entries have this name`);
}

async function isFolder(path: string | Buffer): Promise<boolean> {
  const found = await lstat(path).catch(() => null); // not there
  return found?.isDirectory() ?? false;
}

async function namesIn(folder: string): Promise<readonly Buffer[]> {
  try {
    return await readdir(folder, { encoding: "buffer" });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return []; // no agent has worked yet
    throw error;
  }
}

/** Names need not be text. */
function within(folder: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), name]);
}
