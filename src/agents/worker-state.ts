/**
 * starting ──ready──▶ idle ──lease──▶ busy ──release──▶ idle
 *     └──────exit──────┴──────exit─────┴──▶ dead        idle ──retire──▶ dead        idle ──prepare──▶ idle
 *
 * The states of one pooled process and the only ways between them. Whom it served last is kept; whether another may follow is decided in
 * choose.ts.
 */
import type { Principal, Role } from "../contracts/ids.ts";

/** A process belongs to them from its first lease on; how strictly is decided in choose.ts. */
interface Served {
  readonly principal: Principal;
  readonly role: Role;
  /** Nobody was waiting for the answer: a job, a heartbeat. */
  readonly unattended?: boolean;
}

export type WorkerState =
  | { readonly at: "starting"; readonly since: number }
  | {
      readonly at: "idle";
      readonly since: number;
      /** Null: fresh. */
      readonly served: Served | null;
      readonly sessionFile: string | null;
      /** A session was opened in it for a message that may come. That is no use: `since` says when it was used last. */
      readonly preparedAt?: number;
    }
  | { readonly at: "busy"; readonly since: number; readonly served: Served; readonly sessionFile: string }
  | { readonly at: "dead" };

export const DEAD: WorkerState = { at: "dead" };

export function starting(now: number): WorkerState {
  return { at: "starting", since: now };
}

export function ready(state: WorkerState, now: number): WorkerState {
  if (state.at !== "starting") return state; // it was given up while it started
  return { at: "idle", since: now, served: null, sessionFile: null };
}

export function leased(state: WorkerState, to: Served & { readonly sessionFile: string }, now: number): WorkerState {
  if (state.at !== "idle") return state;
  const { principal, role, sessionFile, unattended = false } = to;
  return { at: "busy", since: now, served: { principal, role, ...(unattended ? { unattended } : {}) }, sessionFile };
}

/** It belongs to them as if they had leased it: it has read their session. */
export function prepared(state: WorkerState, to: Served & { readonly sessionFile: string }, now: number): WorkerState {
  if (state.at !== "idle") return state;
  const { principal, role, sessionFile } = to;
  return { at: "idle", since: state.since, served: { principal, role }, sessionFile, preparedAt: now };
}

export function released(state: WorkerState, now: number): WorkerState {
  if (state.at !== "busy") return state; // it died while it worked; the exit has already been noticed
  return { at: "idle", since: now, served: state.served, sessionFile: state.sessionFile };
}
