/** The gateways that use the database. Each is a node: a row that says that it lives, for as long as it renews it. */
import type { InboxId, InstanceId, SessionKey, TurnId } from "../ids.ts";

/** `draining`: it takes no new work, and ends what it has. `gone`: it has ended, or another gateway has taken over from it. */
export type NodeState = "live" | "draining" | "gone";

/** Times are by the clock of the database. */
export interface GatewayNode {
  readonly id: InstanceId;
  /** The machine and the process: what an owner looks for. */
  readonly name: string;
  readonly version: string;
  readonly state: NodeState;
  readonly startedAt: number;
  readonly renewedAt: number;
  /** When others may take over from it, unless it renews before. Null: for as long as its process holds the file. */
  readonly expiresAt: number | null;
  /** The gateway that took over; null: none has. */
  readonly takenOverBy: InstanceId | null;
  /** Digest of the settings in force there, without secrets and without what belongs to one machine; null: it has not said. */
  readonly settings: string | null;
  /** Digest of the plugins that run there; null: it has not said. */
  readonly plugins: string | null;
}

export type NodeVersions = Readonly<Record<"settings" | "plugins", string>>;
export type NodeDifference = "version" | "settings" | "plugins";

/** What a gateway has to do, and what it alone does. */
export interface NodeWork {
  readonly node: InstanceId;
  /** Messages whose turn has not ended. */
  readonly waiting: number;
  readonly running: number;
  /** Those that live there. */
  readonly sessions: number;
  /** Those that it receives for, by id. */
  readonly platforms: readonly string[];
  /** It begins heartbeats. */
  readonly heartbeat: boolean;
}

/** A gateway as people are shown it. */
export interface ListedNode extends GatewayNode, Omit<NodeWork, "node"> {
  /** What is not as it is at the gateway that answers. */
  readonly differs: readonly NodeDifference[];
}

/** What other gateways and people are told: which of them answers is `self`. */
export interface NodeList {
  readonly items: readonly ListedNode[];
  readonly self: InstanceId;
}

/** What came to this gateway from others whose time was over, or that ended and left something: from now on it is its own. */
export interface TakenOver {
  readonly from: readonly Pick<GatewayNode, "id" | "name">[];
  /** Those that no turn has ended, oldest first. Those that are only counted, because their session was full, are left out. */
  readonly messages: readonly TakenMessage[];
  /** Ids of runs of jobs that had begun. */
  readonly runs: readonly string[];
  /** Ids of responses that nobody answers any more. */
  readonly responses: readonly string[];
  /** Reply parts that have not ended. */
  readonly parts: number;
  /** Node leases of sessions with something to do. */
  readonly sessions: number;
  /** Ended in the same transaction, because nobody waits for them any more. */
  readonly toolCalls: number;
  readonly approvals: number;
}

export interface TakenMessage {
  readonly id: InboxId;
  readonly sessionKey: SessionKey;
  /** The turn that had begun with it; null: none had. */
  readonly turnId: TurnId | null;
}

export interface NodeStore {
  /** Whether other gateways can use the same database. */
  readonly several: boolean;
  /** This gateway. */
  readonly self: Pick<GatewayNode, "id" | "name">;
  /** Newest first, with those that ended in the last days. A node whose time is over counts as live until another one takes over. */
  list(limit: number): Promise<readonly GatewayNode[]>;
  /** Of all that have something. */
  work(): Promise<readonly NodeWork[]>;
  /** What is in force at this gateway, for the others to see. */
  describe(versions: NodeVersions): Promise<void>;
  /**
   * Takes over from all other gateways whose time is over by the clock of the database, and from those that ended and left something. One
   * transaction: they can write nothing from then on, and of several that try at once one succeeds. Null: there is no such gateway.
   */
  takeOver(): Promise<TakenOver | null>;
  /** From now on this gateway takes over from others when their time is over, unless it is late itself. `heard` is called for each takeover. */
  watch(heard: (taken: TakenOver) => void): Disposable;
  /** This gateway takes no new work from now on; others see it. */
  drain(): Promise<void>;
  /**
   * Whether no other gateway can have taken over from this one. Asked before something happens outside of the database, where nothing
   * refuses a gateway that froze and woke up. Answers from memory.
   */
  isHeld(): boolean;
}
