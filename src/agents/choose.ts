/** Which process serves a request: a pure decision with its reason. The pool acts on it. */
import type { Principal, Role } from "../contracts/ids.ts";
import { type ProfileSignature, covers } from "./profile.ts";
import type { WorkerState } from "./worker-state.ts";

interface Candidate {
  readonly id: number;
  readonly state: WorkerState;
  /** Of the profile it was started with. */
  readonly profile: ProfileSignature;
  /** It reads a session for a message that may come, and is free when it has. */
  readonly isOpening?: boolean;
}

export interface Situation {
  readonly workers: readonly Candidate[];
  readonly max: number;
  /** True: a process may serve several people, one after the other. */
  readonly shared: boolean;
  /** Processes of the wanted profile that are starting and that no earlier request is waiting for. */
  readonly unclaimedStarts: number;
  /** False while starts are held back: too many at once, or a pause after failures. */
  readonly mayStart: boolean;
  /** A process that a person has used since this time is warm: they will probably go on there. */
  readonly warmSince: number;
}

export interface Wanted {
  readonly principal: Principal;
  readonly role: Role;
  readonly sessionFile: string;
  readonly profile: ProfileSignature;
  /** A job or a heartbeat: nobody waits for the answer. */
  readonly unattended?: boolean;
}

export type Choice =
  | {
      readonly kind: "use";
      readonly worker: number;
      readonly because: "session_is_open" | "same_principal" | "fresh" | "shared" | "free_in_a_moment";
    }
  | { readonly kind: "spawn"; readonly because: "room_left" }
  | { readonly kind: "replace"; readonly worker: number; readonly because: "idle_of_another" }
  | { readonly kind: "wait"; readonly because: "session_in_use" | "one_is_starting" | "starts_held_back" | "all_busy" };

export type IdleOne = Candidate & { readonly state: Extract<WorkerState, { at: "idle" }> };

/** So many processes one person keeps open for conversations that go on at the same time. A further one closes the longest unused. */
export const WARM_FOR_ONE = 4;

/**
 * By the wait to be expected, now and for the next message: a process that has the session open answers at once; any other idle one opens
 * it in some 20 ms; a new one takes some 700 ms to start. In this order: the session is open there → the same person's → fresh → anybody's,
 * where people share → a new one → wait. A process that was used a moment ago will be used again soon, and would have to open its session
 * anew: a fresh one goes before it, as long as there is room for the next fresh one. Unattended work leaves it alone as long as there is or
 * can be another. One that is just reading another session for a message that may come is free in some 20 ms: sooner than a start.
 */
export function findBestMatch(wanted: Wanted, situation: Situation): Choice {
  const inUse = situation.workers.some(({ state }) => state.at === "busy" && state.sessionFile === wanted.sessionFile);
  if (inUse) return { kind: "wait", because: "session_in_use" }; // two writers would tear the session apart

  const idle = idleOnes(situation.workers);
  const fitting = leanestFirst(idle.filter((one) => fits(one, wanted)));
  const mine = fitting.filter(({ state }) => state.served?.principal === wanted.principal);
  const open = (situation.shared ? fitting : mine).find(({ state }) => state.sessionFile === wanted.sessionFile);
  if (open) return { kind: "use", worker: open.id, because: "session_is_open" };
  const own = mine.filter(isFree);
  const alive = situation.workers.filter(({ state }) => state.at !== "dead").length;
  const fresh = fitting.find(({ state }) => state.served === null);
  const leavesWarmAlone =
    wanted.unattended || (fresh !== undefined && alive < situation.max && own.length < WARM_FOR_ONE);
  const [samePerson] = leavesWarmAlone ? notWarm(own, situation) : own;
  if (samePerson) return { kind: "use", worker: samePerson.id, because: "same_principal" };
  if (fresh) return { kind: "use", worker: fresh.id, because: "fresh" };
  const everyone = situation.shared ? fitting.filter(isFree) : [];
  const [anyone] = wanted.unattended ? notWarm(everyone, situation) : everyone;
  if (anyone) return { kind: "use", worker: anyone.id, because: "shared" };
  const opening = wanted.unattended ? undefined : (situation.shared ? fitting : mine).find((one) => !isFree(one));
  if (opening) return { kind: "use", worker: opening.id, because: "free_in_a_moment" };

  if (situation.unclaimedStarts > 0) return { kind: "wait", because: "one_is_starting" };
  const [warm] = situation.shared ? fitting : mine;
  const full = alive >= situation.max || !situation.mayStart;
  if (warm && full) return { kind: "use", worker: warm.id, because: "same_principal" };
  if (!situation.mayStart) return { kind: "wait", because: "starts_held_back" };
  if (alive < situation.max) return { kind: "spawn", because: "room_left" };
  const foreign = idle.find(({ state }) => state.preparedAt !== undefined) ?? idle[0]; // for a message that did not come
  if (foreign) return { kind: "replace", worker: foreign.id, because: "idle_of_another" };
  return { kind: "wait", because: "all_busy" };
}

const isFree = ({ isOpening = false }: Candidate): boolean => !isOpening;

/** Those that no person has used a moment ago, or is about to use; first the ones that did unattended work before. */
function notWarm(idle: readonly IdleOne[], { warmSince }: Situation): readonly IdleOne[] {
  const unattended = ({ state }: IdleOne): boolean => state.served?.unattended === true;
  const wantedAt = ({ state }: IdleOne): number => Math.max(state.since, state.preparedAt ?? state.since);
  const free = idle.filter((one) => unattended(one) || wantedAt(one) < warmSince);
  return [...free.filter(unattended), ...free.filter((one) => !unattended(one))];
}

/** Its profile covers what is wanted, and it has served nobody of another role: what it learnt for an owner must not reach a guest. */
export function fits({ profile, state }: IdleOne, wanted: Pick<Wanted, "profile" | "role">): boolean {
  return covers(profile, wanted.profile) && (state.served === null || state.served.role === wanted.role);
}

/** Longest unused first, so that sessions used a moment ago stay open. */
export function idleOnes(workers: readonly Candidate[]): readonly IdleOne[] {
  return workers
    .flatMap(({ state, ...rest }) => (state.at === "idle" ? [{ ...rest, state }] : []))
    .sort((a, b) => a.state.since - b.state.since);
}

/** Exactly what was asked for before more than that: other instructions than last time cost the provider's cache. */
function leanestFirst(fitting: readonly IdleOne[]): readonly IdleOne[] {
  return fitting.toSorted((a, b) => a.profile.soft.length - b.profile.soft.length);
}
