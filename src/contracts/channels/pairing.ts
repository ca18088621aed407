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
  /** Those who wait first, newest first; then those who were let in. */
  list(): readonly PairedPerson[];
  /** By code or by id. The first person ever let in becomes an owner, unless there is one besides the operator. */
  approve(codeOrId: string, by: Principal): Promise<Approval>;
  /** By code or by id. Takes back what the person was let in with, their role included. False: there is no such entry. */
  revoke(codeOrId: string, by: Principal): Promise<boolean>;
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
  readonly createdAt: number;
  readonly expiresAt: number;
}

export type Approval =
  { readonly kind: "approved"; readonly person: PairedPerson; readonly role: Role } | { readonly kind: "unknown" };

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
