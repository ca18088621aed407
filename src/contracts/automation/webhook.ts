/** Requests of other programs that begin something: `POST /hooks/{name}`. Their token was checked before; everything else is checked here. */
import type { ErrorCode } from "../errors.ts";

export interface WebhookCall {
  /** `wake`, `agent`, or one that the configuration names. */
  readonly name: string;
  readonly headers: Pick<Headers, "get">;
  /** As it came. Nothing is read in it before its signature was found right. */
  readonly body: Uint8Array;
  /** For the log. */
  readonly client: string;
}

export type HookAnswer =
  /** What it asked for is stored, now or by an earlier request of the same key: it will be done. */
  { readonly kind: "stored"; readonly id: string } | WebhookRefusal;

export interface WebhookRefusal {
  readonly kind: "refused";
  readonly code: ErrorCode;
  /** It was signed wrongly: whoever sent it may be guessing. */
  readonly guess: boolean;
  /** More exact than what the code says. */
  readonly say?: string;
  readonly retryAfterMs?: number;
}

export interface IncomingWebhooks {
  receive(request: WebhookCall, signal: AbortSignal): Promise<HookAnswer>;
}
