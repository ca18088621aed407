/** The gateways that use the database. Each is a node: a row that says that it lives, for as long as it renews it. */
import type { InstanceId } from "../ids.ts";

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
}

/** What other gateways and people are told: which of them answers is `self`. */
export interface NodeList {
  readonly items: readonly GatewayNode[];
  readonly self: InstanceId;
}

export interface NodeStore {
  /** This gateway. */
  readonly self: Pick<GatewayNode, "id" | "name">;
  /** Newest first, with those that ended in the last days. A node whose time is over counts as live until another one takes over. */
  list(limit: number): Promise<readonly GatewayNode[]>;
  /** This gateway takes no new work from now on; others see it. */
  drain(): Promise<void>;
  /**
   * Whether no other gateway can have taken over from this one. Asked before something happens outside of the database, where nothing
   * refuses a gateway that froze and woke up. Answers from memory.
   */
  isHeld(): boolean;
}
