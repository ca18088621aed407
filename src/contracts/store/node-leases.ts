/**
 * Things that one gateway at a time may do, such as receiving for a bot account. A node lease ends when it is given back, or with its node: a
 * node that is gone holds none, and one that lives keeps its own without renewing each.
 */
import type { InstanceId, SessionKey } from "../ids.ts";
import type { TakenMessage } from "./nodes.ts";

/** `platform`: to receive for it. `session`: to answer its messages. `heartbeat`: to begin those of all agents. */
export interface LeasedThing {
  readonly kind: "platform" | "session" | "heartbeat";
  /** Among things of its kind. */
  readonly key: string;
}

export interface NodeLease {
  readonly owner: InstanceId;
  readonly ownerName: string;
  /** The fencing number: it grows with every change of the owner, and never falls for as long as the thing is there. */
  readonly number: number;
  /** By the clock of the database. */
  readonly since: number;
}

export interface NodeLeaseStore {
  /** `mine`: held by this gateway, also when it was before, under the same number. `held`: by another one, which lives. */
  acquire(thing: LeasedThing): Promise<{ readonly kind: "mine" | "held"; readonly lease: NodeLease }>;
  /** Gives it back; that of a session that is deleted is forgotten. False: it was not this gateway's under this number, and nothing has changed. */
  release(thing: LeasedThing, number: number): Promise<boolean>;
  /**
   * A session with all that waits in it becomes this gateway's, in one transaction. Its owner has promised it under this number, and lets nothing
   * of it begin meanwhile. Oldest first. Null: it is not that one's under this number any more, or a turn of it runs; nothing has changed.
   */
  takeSession(
    sessionKey: SessionKey,
    from: Pick<NodeLease, "owner" | "number">,
  ): Promise<readonly TakenMessage[] | null>;
  /** The next number for what this gateway holds: who was promised it under the one before gets it no more. Null: it is not this gateway's. */
  renumber(thing: LeasedThing, number: number): Promise<number | null>;
  /** Null: nobody that lives. */
  heldBy(thing: LeasedThing): Promise<NodeLease | null>;
}
