/** A note on disk for every process this gateway started, so that the next process can end what a crash left running. Strangers are never touched. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../kit/clock.ts";
import { parseJson } from "../../kit/json.ts";
import type { Log } from "../../kit/log.ts";
import { withProcessMark } from "./marks.ts";
import { type ProcessIdentity, bootId, descendantsOf, identify, isAlive, withVariable } from "./proc.ts";
import { dropDeadLocks } from "./dead-locks.ts";
import { isFields, text } from "../talk/protocol.ts";
import { killAll } from "./stop.ts";
import { endOldVisits, makeVisitFolder, type VisitFolder } from "../talk/session-visit.ts";
import { makeTempFolder, sweepTempFolders, type TempFolder, type TempFolderOptions } from "./temp-folder.ts";

const MAX_NOTE_CHARS = 4_096;
const OWNER_VARIABLE = "PI_GATEWAY_OWNER";
const KINDS = ["agents", "programs"] as const;

type NoteKind = (typeof KINDS)[number];

export interface ChildNotes {
  /** For the environment of the children: what they start inherits it, and is found by it even when its parents are gone. */
  readonly mark: Readonly<Record<string, string>>;
  /** `id`: what marks everything that it starts. */
  write(child: ProcessIdentity, id: string): void;
  remove(pid: number): void;
  /** Before a start: while no agent of ours runs, nobody holds a lock, and one that was killed in the middle of its own start may have left one. */
  freeLocks(): number;
  /** A folder for the passing files of one child. */
  tempFolder(options: TempFolderOptions): TempFolder;
  /** A folder for the sessions that one child works on. `id`: as for the other one. */
  visitFolder(id: string): VisitFolder;
}

interface Note extends ProcessIdentity {
  /** Of its mark. Empty: of a version that had none. */
  readonly id: string;
  readonly boot: string;
  /** The gateway that started it. While that one lives, its children are no orphans. */
  readonly owner: ProcessIdentity;
}

/** `kind`: what the children are. While no agent runs, nobody holds a lock, so agents have a folder of their own. */
export function childNotes(home: string, kind: NoteKind = "agents"): ChildNotes {
  const folder = notesFolder(home, kind);
  const owner = thisGateway();
  return {
    mark: { [OWNER_VARIABLE]: markOf(owner) },
    write(child, id) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(
        join(folder, `${child.pid}.json`),
        JSON.stringify({ ...child, id, boot: bootId(), owner } satisfies Note),
        { mode: 0o600 },
      );
    },
    remove: (pid) => rmSync(join(folder, `${pid}.json`), { force: true }),
    // where processes cannot be told apart there are no notes, and nobody knows who runs
    freeLocks: () => (owner.startTime !== "" && filesIn(folder).length === 0 ? dropDeadLocks(home) : 0),
    tempFolder: (options) => makeTempFolder(home, owner, options),
    visitFolder: (id) => makeVisitFolder(home, owner, id),
  };
}

interface LeftBehind {
  readonly processes: readonly ProcessIdentity[];
  /** Notes of gateways that are gone. */
  readonly notes: readonly string[];
}

/** What gateways that are gone left running. */
function leftBehind(home: string): LeftBehind {
  const boot = bootId();
  const left: ProcessIdentity[] = [];
  const marks = new Set<string>();
  const notes: string[] = [];
  for (const file of KINDS.flatMap((kind) => filesOf(notesFolder(home, kind)))) {
    const note = readNote(file);
    if (note && isAlive(note.owner)) continue;
    const ours = note !== null && boot !== "" && note.boot === boot;
    if (ours) marks.add(markOf(note.owner));
    if (ours && note.id !== "") left.push(...withProcessMark(note.id));
    if (ours && isAlive(note)) left.push(note, ...descendantsOf(note.pid));
    notes.push(file);
  }
  for (const mark of marks) left.push(...withVariable(OWNER_VARIABLE, mark));
  return { processes: [...new Map(left.map((one) => [one.pid, one])).values()], notes };
}

/** How many processes a gateway that is gone left running. Only looks. */
export function countOrphans(home: string): number {
  return leftBehind(home).processes.length;
}

/** Ends what a previous process left running, and frees what it had locked. Returns how many processes that were. */
export async function killOrphans(deps: { readonly clock: Clock; readonly log: Log }, home: string): Promise<number> {
  const { processes: each, notes } = leftBehind(home);
  for (const file of notes) rmSync(file, { force: true });
  if (each.length > 0)
    deps.log.warn("ending agent processes of a previous process", { pids: each.map(({ pid }) => pid) });
  await killAll(deps.clock, each);
  sweepTempFolders(deps.log, home, thisGateway());
  endOldVisits(deps.log, home, thisGateway());
  const locks = filesIn(notesFolder(home, "agents")).length === 0 ? dropDeadLocks(home) : 0;
  if (locks > 0) deps.log.warn("locks of killed agents dropped", { locks });
  return each.length;
}

function thisGateway(): ProcessIdentity {
  return identify(process.pid) ?? { pid: process.pid, startTime: "" };
}

/** Names one life of a gateway on this machine. */
function markOf(owner: ProcessIdentity): string {
  return `${owner.pid}.${owner.startTime}.${bootId()}`;
}

function notesFolder(home: string, kind: NoteKind): string {
  return join(home, "run", kind);
}

function filesOf(folder: string): readonly string[] {
  return filesIn(folder).map((name) => join(folder, name));
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d{1,10}\.json$/.test(name));
  } catch {
    return []; // the first start: there is no such folder yet
  }
}

function readNote(path: string): Note | null {
  try {
    const parsed = parseJson(readFileSync(path, "utf8"), { maxChars: MAX_NOTE_CHARS, maxDepth: 4 });
    if (!parsed.ok || !isFields(parsed.value)) return null;
    const child = toIdentity(parsed.value);
    const owner = toIdentity(parsed.value.owner);
    return child && owner ? { ...child, id: text(parsed.value.id), owner, boot: text(parsed.value.boot) } : null;
  } catch {
    return null; // half written when the machine went down
  }
}

function toIdentity(value: unknown): ProcessIdentity | null {
  if (!isFields(value) || typeof value.pid !== "number" || !Number.isSafeInteger(value.pid) || value.pid < 2)
    return null;
  return { pid: value.pid, startTime: text(value.startTime) };
}
