/** Model calls of agent processes: they leave through the gateway, which puts in the key. No process holds one. */
import type { MuxStream } from "../kit/mux/mux.ts";
import type { Caller, FailedModel } from "./agent.ts";
import type { Usage } from "./chat.ts";
import type { ErrorCode } from "./errors.ts";
import type { SessionKey, TurnId } from "./ids.ts";

/**
 * What a process has in the place of a key. No secret: it is worth nothing but in a call through the model door. pi recognises Anthropic's
 * login tokens by how they begin, and asks differently with one.
 */
export const PLACEHOLDER_KEY = "pi-gateway-placeholder";
export const PLACEHOLDER_LOGIN = `sk-ant-oat-${PLACEHOLDER_KEY}`;

export interface ModelDoor {
  connect(options: DoorAccess): ProcessDoor;
  /** Models that are left alone for a while because they failed, as sentences for the owner. */
  notices(): readonly string[];
}

/** For one process. */
export interface DoorAccess {
  /** Those it may call. */
  readonly providers: readonly string[];
  /** How long a model may take to its first word, where another one can be asked. */
  readonly fallbackAfterMs: number;
  /** pi calls its provider itself, by a login that only it has. */
  readonly callsItself: boolean;
}

export interface ProcessDoor {
  /** Answers one call. Never throws: what goes wrong is the answer. */
  serve(call: MuxStream, head: unknown): void;
  /** For whom calls are made from now on. Null: they are refused, and those that run end. */
  lease(caller: Caller | null): void;
  /** Why the gateway itself has refused a call of this lease; null: it has not. */
  refusal(): DoorRefusal | null;
  /**
   * pi tells what one answer has cost. Of calls that it makes itself this is all there is to know: they count from then on, and one more may be too
   * much (`more`: pi is about to make it). Returns why; null: it may go on, or the call came through here and was judged before.
   */
  told(usage: Usage, more: boolean): DoorRefusal | null;
  /** The first model that failed in this lease, so that another one was asked; null: none did. */
  failed(): FailedModel | null;
}

export interface DoorRefusal {
  readonly code: ErrorCode;
  readonly detail: string;
  /** For the person who asked. */
  readonly say: string;
}

/** A model call that has ended. */
export interface ModelCall {
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly provider: string;
  /** `provider/model`. */
  readonly model: string;
  /** On the clock of elapsed time. */
  readonly startedAt: number;
  readonly ms: number;
  /** From the beginning to the first word or tool call; null: there was none. */
  readonly firstTokenMs: number | null;
  /** `refused`: by the gateway itself. `stopped`: the turn ended first. */
  readonly outcome: "answered" | "failed" | "refused" | "stopped";
  /** What the provider answered with; null: it did not. */
  readonly status: number | null;
  /** How often it was sent again with another key. */
  readonly retries: number;
  readonly usage: Usage;
}
