/** How a stranger becomes somebody who may write: they get a code, and an owner says yes to it. */
import type { Principal, Role } from "../ids.ts";

export interface Pairing {
  /** For decisions: known without looking anything up. */
  isPaired(principal: Principal, channel: string, account: string): boolean;
  /**
   * The one sentence a stranger is told, with their code in it. Null: they were told within the hour, or as many as may wait for this
   * account do so already; then nothing is said or written.
   */
  ask(stranger: Stranger): Promise<string | null>;
  /** Pending people first, newest first; then approved ones. */
  list(): readonly PairedPerson[];
  /** Only the right code approves, whoever asks; an id alone never does. The role is the one that was asked for. */
  approve(request: ApprovalRequest, by: Principal): Promise<Approval>;
  /** By code or by id. Takes away what the person was approved with, their role included. False: there is no such entry. */
  revoke(codeOrId: string, by: Principal): Promise<boolean>;
  /** Puts the entry, and the person's role, back to what they were before the last decision. False: nothing to undo, or too late. */
  undo(id: string, by: Principal): Promise<boolean>;
  /** Another gateway has changed something. */
  reload(): Promise<void>;
}

export interface ApprovalRequest {
  readonly code: string;
  /** The entry the approver looks at: the code must be the one of this person. Absent: whoever has the code. */
  readonly id?: string;
  readonly role: Role;
}

export interface Stranger {
  readonly principal: Principal;
  readonly name: string;
  readonly channel: string;
  readonly account: string;
}

/** As an owner sees it. */
export interface PairedPerson extends Stranger {
  readonly id: string;
  readonly state: "pending" | "approved";
  /** Null while pending. */
  readonly role: Role | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export type Approval =
  | { readonly kind: "approved"; readonly person: PairedPerson; readonly role: Role }
  /** No entry has this code, or its hour is over. */
  | { readonly kind: "unknown" }
  /** The entry is there and pending, and this is not its code. */
  | { readonly kind: "wrong_code" }
  /** Too many wrong codes of this approver. */
  | { readonly kind: "locked"; readonly retryAfterMs: number };

/** One row for each person on each account. Only digests of codes are stored. */
export interface PairingStore {
  list(): Promise<readonly PairingRow[]>;
  /** Replaces the row of this person on this account, and drops what has expired without being approved; fsynced. */
  put(row: PairingRow): Promise<void>;
}

export interface PairingRow extends Stranger {
  readonly id: string;
  readonly digest: string;
  readonly state: "pending" | "approved" | "revoked";
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly decidedAt: number | null;
  readonly decidedBy: Principal | null;
}
