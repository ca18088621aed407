/**
 * Before the first agent starts: looks at every folder that agents work in and sees to it that nothing in it is lost, or open to others without
 * a word, because `agent.workspace.scope` was changed. What a start did is in the log and, for a week, in the status.
 */
import { realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { isGatewayError } from "../../contracts/errors.ts";
import { OPERATOR } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import { PEOPLE, personFolder } from "../../kit/person-folder.ts";
import { killOrphans } from "../process/orphans.ts";
import type { WorkspaceFolder } from "./folders.ts";
import {
  clearPeople,
  hasIntruders,
  holdsSomething,
  type MoveDeps,
  moveSharedFiles,
  sharedEntries,
} from "./move-files.ts";
import { type FolderFacts, isSettled, movedText, notMovedText, peopleText, planFor, stayText } from "./plan.ts";
import { type FolderRecord, type Moving, openRecords, type Records } from "./records.ts";

/** An owner who does not look every day finds out all the same. */
const NOTE_SHOWN_MS = 7 * 86_400_000;
/** Of the state directory: the folder of agents for which no other is set. The only one whose files are the gateway's to move. */
const STANDARD = "workspace";

export interface SettleDeps extends MoveDeps {
  readonly clock: Clock;
  /** Makes a backup of the state directory, and returns its file. */
  backUp(): Promise<string>;
}

interface World extends SettleDeps {
  readonly home: string;
  readonly records: Records;
}

/** Returns sentences for the status. Files that cannot be moved stay where they are, and the gateway starts all the same. */
export async function settleWorkspaces(
  deps: SettleDeps,
  home: string,
  folders: readonly WorkspaceFolder[],
): Promise<() => readonly string[]> {
  const records = openRecords(home);
  const world: World = { ...deps, home, records };
  const notices: string[] = [];
  for (const folder of folders) {
    try {
      await settle(world, folder);
    } catch (error) {
      const because = isGatewayError(error) ? error.say : `${error instanceof Error ? error.message : String(error)}.`;
      deps.log.error("shared workspace not moved", { folder: folder.path, error });
      notices.push(notMovedText(folder.path, because));
    }
  }
  records.keepOnly(folders.map(({ path }) => path));
  const notes = folders.flatMap(({ path }) => records.of(path)?.note ?? []);
  return () => {
    const shown = notes.filter(({ at }) => deps.clock.now() - at < NOTE_SHOWN_MS);
    return [...notices, ...shown.map(({ say }) => say)];
  };
}

async function settle(world: World, folder: WorkspaceFolder): Promise<void> {
  const { records } = world;
  const { path, scope } = folder;
  const record = records.of(path);
  if (isSettled(scope, record)) return records.put(path, recordOf(folder, record)); // as a rule: then no folder is read
  const plan = planFor(scope, record, await factsOf(world.home, path, mayHavePeople(record)));
  switch (plan.kind) {
    case "leave":
      return records.put(path, recordOf(folder, record));
    case "tell_people":
      return tell(world, folder, peopleText(join(path, PEOPLE)));
    case "tell_shared":
      return tell(world, folder, stayText(path, personFolder(path, OPERATOR)));
    case "resume":
    case "move":
      await killOrphans(world, world.home); // whoever still works in there would see files go
      return move(world, folder, plan.kind === "resume" ? plan.moving : await begin(world, path));
  }
}

async function factsOf(home: string, path: string, keepPeople: boolean): Promise<FolderFacts> {
  const standard = join(await realpath(home), STANDARD);
  const real = await realpath(path).catch(() => null); // no agent has worked yet
  return {
    isStandard: path === join(home, STANDARD) && real === standard,
    hasSharedFiles: (await sharedEntries(path)).length > 0 || (await hasIntruders(path, keepPeople)),
    hasPeople: await holdsSomething(join(path, PEOPLE)),
  };
}

/** Whether what is in `people/` may be theirs. Where it is known that people had no folders, an agent has made whatever is there. */
function mayHavePeople(record: FolderRecord | null): boolean {
  return record === null || record.hadPeople;
}

/** From the backup to the moment from which a move is gone on with, whatever happens. A crash before that begins again. */
async function begin(world: World, path: string): Promise<Moving> {
  const { records, log, clock } = world;
  const keepPeople = mayHavePeople(records.of(path));
  log.info("shared workspace is backed up before its files are moved", { folder: path });
  let backup: string;
  try {
    backup = await world.backUp();
  } finally {
    // also without a backup, because people work there from now on: what an agent made must not become somebody's workspace
    await clearPeople(world, path, keepPeople);
    records.put(path, { scope: "agent", hadPeople: true });
  }
  const own = personFolder(path, OPERATOR);
  const into = (await holdsSomething(own)) ? join(own, `shared-workspace-${momentText(clock.now())}`) : own;
  const moving = { into: relative(path, into), backup };
  records.put(path, { scope: "agent", hadPeople: true, moving });
  return moving;
}

async function move(world: World, folder: WorkspaceFolder, { into, backup }: Moving): Promise<void> {
  const { path } = folder;
  const target = join(path, into);
  const { moved, left } = await moveSharedFiles(world, path, into);
  world.log.info("shared workspace moved", { folder: path, into: target, moved, left, backup });
  const say = movedText(path, target, { backup, left });
  // as it is after the move: a setting that was changed back meanwhile is found by the next look
  world.records.put(path, { scope: "person", hadPeople: true, note: { at: world.clock.now(), say } });
  if (folder.scope !== "person") await settle(world, folder);
}

function tell(world: World, folder: WorkspaceFolder, say: string): void {
  world.log.warn("files of a workspace lie elsewhere now", { folder: folder.path, scope: folder.scope, say });
  const note = { at: world.clock.now(), say };
  world.records.put(folder.path, { ...recordOf(folder, world.records.of(folder.path)), note });
}

function recordOf({ scope }: WorkspaceFolder, before: FolderRecord | null): FolderRecord {
  const hadPeople = scope !== "agent" || (before?.hadPeople ?? false);
  const record: FolderRecord = { scope: scope === "person" ? "person" : "agent", hadPeople };
  return before?.note ? { ...record, note: before.note } : record;
}

/** "20260301T000100Z" */
function momentText(at: number): string {
  return new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, "");
}
