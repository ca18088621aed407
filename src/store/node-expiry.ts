/** How long a gateway counts as live without renewing, what one makes of the others at its start and later, and who holds what. Decisions without state. */
import type { InstanceId } from "../contracts/ids.ts";
import type { NodeState } from "../contracts/store/nodes.ts";

/** After so long without a renewal others may take over. Within 12 s of a death another gateway is to be at work, and it has to start first. */
export const NODE_EXPIRY_MS = 6_000;
/** Two renewals may fail in a row. */
export const RENEW_MS = 2_000;

interface KnownNode {
  readonly state: NodeState;
  readonly state_directory: string;
  readonly renewed_at: number;
  readonly expires_at: number | null;
}

/** Times are by the clock of the database. */
interface Opening {
  readonly stateDirectory: string;
  readonly now: number;
  /** Since when the database answers. */
  readonly upSince: number;
}

/**
 * `former`: it held the state directory that this gateway holds now, so its process has ended. `expired`: it did not renew in time. A row
 * without an expiry is SQLite's: whoever opens the file is alone with it.
 */
export function judgeNode(
  node: KnownNode,
  { stateDirectory, ...times }: Opening,
): "gone" | "former" | "expired" | "live" {
  if (node.state === "gone") return "gone";
  if (node.state_directory === stateDirectory) return "former";
  return node.expires_at === null || endOfNode(node, times) <= times.now ? "expired" : "live";
}

/** While the database is away nobody can renew: whoever was not heard of since it is back gets as long as any other from that moment on. */
export function endOfNode(
  { renewed_at, expires_at }: Pick<KnownNode, "renewed_at" | "expires_at">,
  { upSince }: Pick<Opening, "upSince">,
): number {
  const end = expires_at ?? 0;
  return renewed_at > upSince ? end : Math.max(end, upSince + NODE_EXPIRY_MS);
}

interface Watch {
  /** All by the clock that measures. */
  readonly now: number;
  /** Until then nobody can have taken over from this gateway. */
  readonly heldUntil: number;
  /** Since then every renewal of its row has worked, and in time. */
  readonly steadySince: number;
  /** How many others have not renewed in time, or ended and left something. */
  readonly over: number;
}

/**
 * Whether a gateway that runs takes over from others. `late`: it may be one of those whose time is over itself. `settling`: it could not renew
 * either, a moment ago. The database was away for all of them, or the whole machine stood still, and those that live get as long as any other
 * to be heard of again.
 */
export function judgeTakeover({
  now,
  heldUntil,
  steadySince,
  over,
}: Watch): "take over" | "nobody" | "late" | "settling" {
  if (over === 0) return "nobody";
  if (now >= heldUntil) return "late";
  return now - steadySince >= NODE_EXPIRY_MS ? "take over" : "settling";
}

interface OwnedLease {
  /** Null: it was given back. */
  readonly owner: InstanceId | null;
  readonly number: number;
  /** Of the owner; null: there is no such node any more. */
  readonly state: NodeState | null;
}

type LiveLease<T extends OwnedLease> = T & { readonly owner: InstanceId };

/**
 * A lease lives as long as its node. One whose time is over still counts: it may renew, and only who takes over from it, and so ends its writes,
 * frees what it holds.
 */
export function isLive<T extends OwnedLease>(lease: T): lease is LiveLease<T> {
  return lease.owner !== null && lease.state !== null && lease.state !== "gone";
}

/** What comes of asking for a lease; `known`: its row, if there ever was one. */
export function nextLease<T extends OwnedLease>(
  known: T | null,
  me: InstanceId,
):
  | { readonly kind: "mine" }
  | { readonly kind: "new"; readonly number: number }
  | { readonly kind: "held"; readonly lease: LiveLease<T> } {
  if (known === null || !isLive(known)) return { kind: "new", number: (known?.number ?? 0) + 1 };
  return known.owner === me ? { kind: "mine" } : { kind: "held", lease: known };
}
