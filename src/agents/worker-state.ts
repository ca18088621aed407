/**
 * starting ──ready──▶ idle ──lease──▶ busy ──release──▶ idle
 *     └──────exit──────┴──────exit─────┴──▶ dead        idle ──retire──▶ dead
 *
 * The states of one pooled process and the only ways between them. Its principal is the one it served last; whether another
 * may follow is decided in choose.ts.
 */
import type { Principal } from "../contracts/ids.ts";

export type WorkerState =
  | { readonly at: "starting"; readonly since: number }
  | {
      readonly at: "idle";
      readonly since: number;
      readonly principal: Principal | null;
      readonly sessionFile: string | null;
    }
  | { readonly at: "busy"; readonly since: number; readonly principal: Principal; readonly sessionFile: string }
  | { readonly at: "dead" };

export const DEAD: WorkerState = { at: "dead" };

export function starting(now: number): WorkerState {
  return { at: "starting", since: now };
}

export function ready(state: WorkerState, now: number): WorkerState {
  if (state.at !== "starting") return state; // it was given up while it started
  return { at: "idle", since: now, principal: null, sessionFile: null };
}

export function leased(
  state: WorkerState,
  to: { readonly principal: Principal; readonly sessionFile: string },
  now: number,
): WorkerState {
  if (state.at !== "idle") return state;
  return { at: "busy", since: now, principal: to.principal, sessionFile: to.sessionFile };
}

export function released(state: WorkerState, now: number): WorkerState {
  if (state.at !== "busy") return state; // it died while it worked; the exit has already been noticed
  return { at: "idle", since: now, principal: state.principal, sessionFile: state.sessionFile };
}
