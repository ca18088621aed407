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

/** One of the secrets that senders sign with, without its value. */
export interface WebhookKey {
  /** `secret`, `previousSecret`, or the key id that senders name. */
  readonly id: string;
  /** Where it stands in the settings. */
  readonly path: string;
}

/** An incoming webhook as its owner looks at it. */
export interface WebhookCard {
  readonly name: string;
  /** Requests without a right signature are refused. */
  readonly signed: boolean;
  readonly keys: readonly WebhookKey[];
  /** The keys are those of all webhooks that have none of their own. */
  readonly keysAreShared: boolean;
  readonly role: string;
  readonly perMinute: number;
  /** Null: `wake` or `agent`, whose requests say themselves what they want. */
  readonly mapping: WebhookMapping | null;
}

interface WebhookMapping {
  readonly message: string;
  readonly task: string | null;
  readonly agent: string;
  readonly session: string;
  readonly delivery: string;
  /** A webhook target that the answer is posted to as well. */
  readonly webhook: string | null;
}

interface WebhookTargetCard {
  readonly name: string;
  /** Without a name and password in it. */
  readonly url: string;
  readonly signed: boolean;
  readonly privateNetwork: boolean;
}

export interface WebhookList {
  /** False: every request is refused. */
  readonly enabled: boolean;
  readonly incoming: readonly WebhookCard[];
  readonly targets: readonly WebhookTargetCard[];
}

export type WebhookTest =
  /** `text`: what the agent gets, in the place of the request. */
  | { readonly kind: "taken"; readonly id: string; readonly text: string }
  | { readonly kind: "refused"; readonly say: string };

export type WebhookKeyAnswer =
  /** `secret`: shown once. */
  | { readonly kind: "added"; readonly key: WebhookKey; readonly secret: string }
  | { readonly kind: "removed" }
  | { readonly kind: "unknown" }
  | { readonly kind: "refused"; readonly say: string };

/** Webhooks in both directions for an operator: looked at, tried, and given new keys. */
export interface WebhookAdmin {
  list(): WebhookList;
  /** Signs the body as a sender would, and has it received: what it asks for is begun. Null: there is no such webhook. */
  test(name: string, body: string, signal: AbortSignal): Promise<WebhookTest | null>;
  /** Posts a test to a target. Null: there is no such target. */
  testTarget(name: string, signal: AbortSignal): Promise<{ readonly ok: boolean; readonly say: string } | null>;
  /** A new key beside the old ones, which stay good until they are removed. */
  addKey(name: string): Promise<WebhookKeyAnswer>;
  removeKey(name: string, id: string): Promise<WebhookKeyAnswer>;
}
