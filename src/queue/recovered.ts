/** What an earlier life left behind, as work again: nothing twice, nothing lost, and nothing begun anew that was to be stopped. */
import type { TurnId } from "../contracts/ids.ts";
import type { QueueEntry, WorkKind } from "../contracts/queue.ts";
import type { UnfinishedRow } from "../contracts/store.ts";
import type { Work } from "./lanes.ts";

export type WorkKindOf = (entry: Pick<QueueEntry, "message" | "role">) => WorkKind;

/**
 * Rows of one interrupted turn become one piece of work again and come first; all else keeps the order in which it was accepted. A turn
 * that somebody had asked to stop does not begin again, and the one who asked is answered next.
 */
export function recovered(rows: readonly UnfinishedRow[], kindOf: WorkKindOf): Work[] {
  const stops = rows.filter((row) => !row.turn && kindOf(row) === "stop");
  const stopping = new Set(stops.map((row) => row.sessionKey));
  const asked = new Set(stops.map((row) => row.id));
  const rank = ({ turnId, entries: [first] }: Work): number => {
    if (turnId !== null) return 0;
    return first && asked.has(first.id) ? 1 : 2;
  };
  const all = onePerTurn(rows).map((work) => {
    const [first] = work.entries;
    const kind = work.entries.length === 1 && first ? kindOf({ ...first, role: work.role }) : "talk";
    const { alone, errand } = standing(kind);
    const stoppable = work.turnId !== null && (!alone || errand);
    return { ...work, alone, errand, stopped: stoppable && stopping.has(work.sessionKey) };
  });
  return all.toSorted((one, other) => rank(one) - rank(other)); // stable
}

/** How work of a kind stands in its lane. */
export function standing(kind: WorkKind): { readonly alone: boolean; readonly errand: boolean } {
  return { alone: kind !== "talk", errand: kind === "errand" };
}

function onePerTurn(rows: readonly UnfinishedRow[]): Work[] {
  const work: Work[] = [];
  const byTurn = new Map<TurnId, { entries: Work["entries"][number][] }>();
  for (const row of rows) {
    const entry = { id: row.id, message: row.message };
    const known = row.turn ? byTurn.get(row.turn.turnId) : undefined;
    if (known) {
      known.entries.push(entry);
      continue;
    }
    const item = {
      sessionKey: row.sessionKey,
      agentId: row.agentId,
      role: row.role,
      priority: row.priority,
      entries: [entry],
      turnId: row.turn?.turnId ?? null,
    };
    if (row.turn) byTurn.set(row.turn.turnId, item);
    work.push(item);
  }
  return work;
}
