/** Keys of earlier versions and where they moved. A move never grants anything: the value goes to the key that means the same. */
import type { Finding } from "./read-tree.ts";
import type { ObjectTree, Tree } from "./tree.ts";

export interface Migration {
  readonly from: string;
  readonly to: string;
}

export const OLD_KEYS: readonly Migration[] = [
  { from: "gateway.token", to: "gateway.auth.token" },
  { from: "gateway.password", to: "gateway.auth.password" },
  { from: "agent.pool.idleTimeoutMs", to: "agent.pool.idleMs" },
  { from: "agent.pool.waitTimeoutMs", to: "agent.pool.waitMs" },
  { from: "agent.turnTimeoutMs", to: "agent.timeoutMs" },
  { from: "agent.piCliPath", to: "agent.piPath" },
  { from: "queue.maxPending", to: "queue.maxTotal" },
  { from: "queue.globalMaxPending", to: "queue.maxTotal" },
  { from: "logging.retention", to: "logging.retentionDays" },
];

/** Whoever had only a password signed in with it; without this the move would lock them out. */
export const PASSWORD_KEY = "gateway.password";
export const MODE_KEY = "gateway.auth.mode";

/** Moves old keys inside the tree, so that whatever is wrong with a value is still reported where it stands in the file. */
export function moveOldKeys(tree: ObjectTree, report: (finding: Finding) => void): readonly Migration[] {
  const moved: Migration[] = [];
  for (const migration of OLD_KEYS) {
    const { from, to } = migration;
    const source = parentOf(tree, from, false);
    const entry = source?.entries.get(lastKey(from));
    if (!source || !entry) continue;
    source.entries.delete(lastKey(from));
    const target = parentOf(tree, to, true);
    if (!target) continue; // what stands in the way has the wrong kind, and is reported as that
    if (target.entries.has(lastKey(to))) {
      const other = moved.find((earlier) => earlier.to === to)?.from ?? to;
      const message = `${from} is the old name of ${to}, and ${other === to ? "both are" : `${other} is another one that is`} set. Keep only ${to}.`;
      report({ severity: "problem", path: from, offset: entry.keyOffset, message, suggestion: to });
      continue;
    }
    target.entries.set(lastKey(to), entry);
    moved.push(migration);
    if (from === PASSWORD_KEY && !target.entries.has("mode")) {
      const value: Tree = { kind: "text", offset: entry.value.offset, value: "password" };
      target.entries.set("mode", { keyOffset: entry.keyOffset, value });
    }
  }
  return moved;
}

const lastKey = (path: string): string => path.slice(path.lastIndexOf(".") + 1);

/** The group a dotted path ends in; made on the way when asked. Null when something else stands there. */
function parentOf(tree: ObjectTree, path: string, make: boolean): ObjectTree | null {
  let at = tree;
  for (const key of path.split(".").slice(0, -1)) {
    const entry = at.entries.get(key);
    if (entry && entry.value.kind !== "object") return null;
    if (!entry && !make) return null;
    const below: Tree = entry?.value ?? { kind: "object", offset: at.offset, entries: new Map() };
    if (!entry) at.entries.set(key, { keyOffset: at.offset, value: below });
    if (below.kind === "object") at = below;
  }
  return at;
}
