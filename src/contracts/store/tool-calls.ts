/** The record of every tool call, whatever became of it. Rows are linked by a keyed hash, so that a change behind the gateway's back is noticed. */
import type { ToolStatus } from "../chat.ts";
import type { Principal, SessionKey, TurnId } from "../ids.ts";
import type { Listed, Page } from "../paging.ts";
import type { SessionReach } from "../session-reach.ts";
import type { ToolOrigin, ToolOutcome, ToolPath } from "../tools/tool.ts";

export interface ToolCallStore {
  /**
   * Before the tool runs; fsynced unless the tool may run again. Marks the turn unsafe to retry unless `idempotent` or `waiting`. False: a call
   * with this id runs or has run, at this gateway or another one, and nothing was written.
   */
  intend(call: ToolIntent): Promise<boolean>;
  /** A call that waited for the owner's word begins now; from here on as after `intend`. */
  begin(id: string): Promise<void>;
  /** A call that never ran: its row, begun and ended in one write. Its id stays free. */
  refuse(call: ToolIntent, end: Pick<ToolEnd, "output"> & { readonly status: RefusedStatus }): Promise<void>;
  /** A call that has ended already stays as it is. */
  settle(id: string, end: ToolEnd): Promise<void>;
  /** The newest call with this id that was not refused, else the newest that the owner denied. */
  earlier(scope: string, callId: string): Promise<EarlierCall | null>;
  /** When this person's calls of this tool began, oldest first; refused ones do not count. */
  timesSince(who: { readonly principal: Principal; readonly tool: string }, since: number): Promise<readonly number[]>;
  /** Newest first. */
  list(filter: ToolCallFilter, page: Page): Promise<Listed<AuditRow>>;
  /** Takes away some of the ended calls that are older than this, oldest first, and moves the start of the chain. 0: there are none left. */
  prune(before: number): Promise<number>;
}

export interface ToolIntent {
  readonly id: string; // ours, unique for ever
  readonly callId: string; // the caller's
  /** Within which `callId` means one call: a turn, or a person who calls from outside of turns. */
  readonly scope: string;
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly principal: Principal;
  readonly tool: string;
  readonly origin: ToolOrigin;
  readonly path: ToolPath;
  /** What the tool runs with. */
  readonly input: unknown;
  /** What the caller wrote; absent: the same. */
  readonly asked?: unknown;
  /** Digest of what was asked for, so that one id used for two different calls is noticed. */
  readonly paramsHash: string;
  readonly idempotent: boolean;
  /** For the owner's word; it has not begun. */
  readonly waiting: boolean;
  readonly at: number;
}

/** `error`: the call was wrong. `blocked`: the gateway, a plugin or a person does not want it. */
export type RefusedStatus = "blocked" | "error";

export interface ToolEnd {
  readonly status: ToolStatus;
  readonly output: string;
  /** What the caller was told, when `status` and `output` do not say all of it. */
  readonly reply?: ToolOutcome;
  readonly ms: number;
}

export interface EarlierCall {
  readonly tool: string;
  readonly paramsHash: string;
  readonly status: ToolStatus;
  readonly idempotent: boolean;
  readonly output: string;
  readonly reply: ToolOutcome | null;
  /** It has not ended, and another gateway has it: while that one lives, its end will be written. */
  readonly elsewhere: boolean;
}

/** `pending`: has no end yet, because it runs or because it waits for the owner. */
export type AuditStatus = "success" | "error" | "blocked" | "pending" | "unknown";

export interface ToolCallFilter {
  /** Only calls of this person. */
  readonly principal?: Principal;
  readonly sessionKey?: SessionKey;
  readonly within?: SessionReach | null;
  readonly tool?: string;
  readonly status?: AuditStatus;
  /** Milliseconds, the first included, the last not. */
  readonly since?: number;
  readonly until?: number;
}

export interface AuditRow {
  readonly id: string;
  readonly turnId: TurnId | null; // null: called from outside of turns
  readonly userId: Principal;
  readonly sessionKey: SessionKey;
  readonly tool: string;
  readonly origin: string;
  readonly input: unknown;
  /** What the caller wrote, where it is not `input`: names, forms and defaults may have been changed on the way. */
  readonly asked?: unknown;
  readonly output: string | null;
  readonly status: AuditStatus;
  readonly executionTimeMs: number | null;
  readonly createdAt: number;
}

/** The rest of the audit log: what changed who may do what, who signed in, and which hosts agents reached. In one chain with the tool calls. */
export interface AuditTrail {
  /** For what has no row of its own. On the disk when it resolves. */
  note(entry: NewAuditEntry): Promise<void>;
  /** Latest first. */
  list(page: Page, kind?: AuditKind): Promise<Listed<AuditEntry>>;
}

export const AUDIT_KINDS = [
  "approval.asked",
  "approval.ended",
  "role.given",
  "role.removed",
  "pairing.pending",
  "pairing.approved",
  "pairing.revoked",
  "config.reloaded",
  "config.rejected",
  "sign_in",
  "sign_out",
  "key.made",
  "key.revoked",
  "network.opened",
  "network.refused",
  "session.deleted",
  "token.rotated",
  "notifications.on",
  "notifications.off",
  "rule.used",
  "rule.removed",
  "reply.retried",
] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

export interface NewAuditEntry {
  readonly kind: AuditKind;
  readonly at: number;
  /** Who did it: the id of a person, or `gateway`. */
  readonly actor: string;
  /** Whom or what it is about: the id of a person, an approval, a sign-in, a session; empty: the gateway itself. */
  readonly subject: string;
  /** Names and ids only: no values of settings, no text of people, no parameters. */
  readonly detail: Readonly<Record<string, string | number | readonly string[] | null>>;
}

export interface AuditEntry extends NewAuditEntry {
  /** The number of its link in the chain. */
  readonly no: number;
}

export interface AuditCounts {
  readonly kind: "intact" | "tampered" | "unverifiable";
  readonly calls: number;
  /** Those that are no calls: approvals, roles, pairings, configuration, sign-ins. */
  readonly entries: number;
  readonly links: number;
}

/** How the audit log was found at a moment. */
export interface AuditVerification extends AuditCounts {
  readonly at: number;
  /** Plain sentences, the first few of them; empty: it is intact. */
  readonly findings: readonly string[];
}

/** Verifies the audit log inside the gateway, one at a time. */
export interface AuditVerifier {
  /** Null: not since the gateway started. */
  last(): AuditVerification | null;
  /** Whoever asks while it runs gets the same answer. */
  verify(): Promise<AuditVerification>;
}
