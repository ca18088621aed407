/** Makes work of the messages that a previous process left unfinished: none twice, none lost, and none that was to be stopped begins again. */
import type { TurnId } from "../contracts/ids.ts";
import type { QueueEntry, WorkKind } from "../contracts/queue.ts";
import type { UnfinishedRow } from "../contracts/store/inbox.ts";
import { lesserRole, overflowWork, shortened, type Work } from "./work.ts";

export type WorkKindOf = (entry: Pick<QueueEntry, "message" | "role" | "agentId">) => WorkKind;

/**
 * Rows of one interrupted turn become one piece of work again and come first; all else keeps the order in which it was accepted. A turn
 * that somebody had asked to stop does not begin again, and the one who asked is answered next. Overflow is merged by the lanes.
 */
export function recoverWork(
  rows: readonly UnfinishedRow[],
  kindOf: WorkKindOf,
  expiresAt: (row: UnfinishedRow) => number,
): Work[] {
  const stops = rows.filter((row) => !row.turn && !row.overflow && kindOf(row) === "stop");
  const stopping = new Set(stops.map((row) => row.sessionKey));
  const asked = new Set(stops.map((row) => row.id));
  const rank = ({ turnId, entries: [first] }: Work): number => {
    if (turnId !== null) return 0;
    return first && asked.has(first.id) ? 1 : 2;
  };
  const all = workByTurn(rows, kindOf, expiresAt).map((work) => {
    const [first] = work.entries;
    const kind =
      work.entries.length === 1 && first && !first.overflow
        ? kindOf({ ...first, role: work.role, agentId: work.agentId })
        : "talk";
    const { alone, errand } = kindFlags(kind);
    const stoppable = work.turnId !== null && (!alone || errand);
    return { ...work, alone, errand, stopped: stoppable && stopping.has(work.sessionKey) };
  });
  return all.toSorted((one, other) => rank(one) - rank(other)); // stable
}

/** What a kind of message means for its work. */
export function kindFlags(kind: WorkKind): { readonly alone: boolean; readonly errand: boolean } {
  return { alone: kind !== "talk", errand: kind === "errand" };
}

function workByTurn(
  rows: readonly UnfinishedRow[],
  kindOf: WorkKindOf,
  expiresAt: (row: UnfinishedRow) => number,
): Work[] {
  const work: Work[] = [];
  const indexes = new Map<TurnId, number>();
  for (const row of rows) {
    const one = workOf(row, kindOf, expiresAt(row));
    const at = row.turn ? indexes.get(row.turn.turnId) : undefined;
    const known = at === undefined ? undefined : work[at];
    if (known && at !== undefined) {
      work[at] = addRowOfTurn(known, one);
      continue;
    }
    if (row.turn) indexes.set(row.turn.turnId, work.length);
    work.push(one);
  }
  return work;
}

function workOf(row: UnfinishedRow, kindOf: WorkKindOf, expiresAt: number): Work {
  const { sessionKey, agentId, role, priority, id, message, overflow } = row;
  const about = { sessionKey, agentId, role, priority, expiresAt };
  const turnId = row.turn?.turnId ?? null;
  const crashes = row.turn?.crashes ?? 0;
  if (!overflow) return { ...about, entries: [{ id, message }], turnId, crashes };
  const made = overflowWork(about, { id, ...shortened(message, kindOf(row) !== "talk") });
  return { ...made, turnId, crashes, overflow: { through: id, hidden: overflow.hidden } };
}

/** One more row of the same turn, which may do what the least of those who speak in it may. */
function addRowOfTurn(known: Work, { entries, overflow, role }: Work): Work {
  const grown = { ...known, entries: [...known.entries, ...entries], role: lesserRole(known.role, role) };
  if (!overflow) return grown;
  return { ...grown, overflow: { through: overflow.through, hidden: overflow.hidden + (known.overflow?.hidden ?? 0) } };
}
