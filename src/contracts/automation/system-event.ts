/** What the gateway has to tell an agent besides what people say: kept until a turn of the session shows it, once. */
import type { Principal, Role, SessionKey, TurnId } from "../ids.ts";

export interface SystemEvent {
  /** Unique for ever: the same event put in twice is one. */
  readonly id: string;
  readonly sessionKey: SessionKey;
  /** Where it comes from, for the model: `job water`, `hook build`. */
  readonly source: string;
  /** `task`: to be done, as its person wanted. `news`: information, to be passed on. `said`: the person has read it already. */
  readonly kind: "task" | "news" | "said";
  readonly text: string;
  /** What a turn of this process shows in the place of `text`. It is never written down: after a restart `text` is shown. */
  readonly real?: string;
  readonly createdAt: number;
  /** Nobody wants to hear it after this. */
  readonly expiresAt: number;
}

export interface ClaimedEvents {
  /** Oldest first. */
  readonly events: readonly SystemEvent[];
  /** So many older ones are only counted, because there were too many. */
  readonly hidden: number;
}

export interface SystemEventStore {
  /** False: it was there before. When more than `MAX_EVENTS_PER_SESSION` wait, the oldest are only counted from then on. */
  add(event: SystemEvent): Promise<boolean>;
  /**
   * What this turn shows: what waits, and what it claimed before, so that another attempt shows the same. Shown is what a turn had that
   * ended well; what one had that failed or was stopped waits again.
   */
  claim(sessionKey: SessionKey, turnId: TurnId, now: number): Promise<ClaimedEvents>;
  /** Tasks and news that no turn has shown. What was said already does not count: nobody has to be told. */
  waiting(sessionKey: SessionKey, now: number): Promise<number>;
}

export const MAX_EVENTS_PER_SESSION = 20;
export const MAX_EVENT_CHARS = 8_000;

export interface Wake {
  readonly principal: Principal;
  readonly role: Role;
  /** What is behind it; a job, if nothing is said. */
  readonly origin?: "cron" | "webhook";
  /** What the record of the conversation shows in the place of somebody's words. Default: that a job has something for it. */
  readonly text?: string;
}

/** Puts something into a session without a person having said it. */
export interface SystemEvents {
  /**
   * `wake`: a turn begins for it now, for this person and with this role; otherwise it is part of the next one. Put in twice it is one.
   * Rejects when the session could not be woken; then it is stored, and may be put in again.
   */
  put(event: Omit<SystemEvent, "createdAt" | "expiresAt">, how: { readonly wake?: Wake }): Promise<void>;
}
