/** The OpenAI-compatible door: what a chat completion asks for, and what becomes of it. The port reads and writes it; the door runs it. */
import type { ApiKey } from "./api-keys.ts";
import type { ClientCall, ClientRequest, HistoryImage, HistoryMessage } from "./client-request.ts";
import type { ToolStatus, Usage } from "./chat.ts";
import type { Principal } from "./ids.ts";

export interface OpenAiDoor {
  /** Agents as models: `pi-gateway`, and `pi-gateway/<agent>` for each that this key is for. */
  models(key: ApiKey | null): readonly ModelCard[];
  /** Throws GatewayError with the name of the wrong field in `fields.param`. `session`: what the header says. */
  read(body: unknown, session: string | null): ChatCompletionRequest;
  /** Counts one request of this person. Throws GatewayError `rate_limited` when it is one too many. */
  admit(principal: Principal): RateState;
  /**
   * Answers it once: the same key with the same body gives the answer that the first one got. Progress goes to `show`. Throws GatewayError,
   * or `signal.reason`: then the turn is stopped.
   */
  answer(
    asked: AskedCompletion,
    show: (progress: CompletionProgress) => void,
    signal: AbortSignal,
  ): Promise<Completion>;
}

export interface ModelCard {
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly owned_by: string;
}

export interface RateState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

export interface ChatCompletionRequest extends RequestedTurn {
  /** As it was asked for, and is named in the answer. */
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

/** What is to be answered, whichever of the APIs asked for it. */
export interface RequestedTurn {
  /** Undefined: as bindings say. */
  readonly agent: string | undefined;
  /** Null: a conversation of its own, made of `history` and `prompt`. */
  readonly session: string | null;
  readonly history: readonly RequestMessage[];
  /** What comes after the last answer. */
  readonly prompt: CompletionPrompt;
  readonly client: ClientRequest;
}

/** One message of the request; images are addresses, `data:` or `https:`. */
export type RequestMessage =
  | { readonly role: "user"; readonly text: string; readonly images: readonly string[] }
  | Exclude<HistoryMessage, { readonly role: "user" }>;

export interface CompletionPrompt {
  readonly text: string;
  readonly images: readonly string[];
  readonly results: readonly ClientResult[];
}

/** What a client tool gave. */
export interface ClientResult {
  readonly callId: string;
  /** Empty: nobody said which it was. */
  readonly tool: string;
  readonly text: string;
}

export interface AskedCompletion extends AskedTurn {
  readonly request: ChatCompletionRequest;
}

export interface AskedTurn extends Asking {
  readonly request: RequestedTurn;
}

/** Who asks, and how. */
export interface Asking {
  readonly principal: Principal;
  /** That the program has shown; null: it has the operator's token. */
  readonly key: ApiKey | null;
  /** Null: each request is answered anew. */
  readonly idempotencyKey: string | null;
  /** Of the body, to tell a repeated request from another one. */
  readonly digest: string;
  /** Says it in the session that the request names. */
  readonly inSession: InSession;
}

export type InSession = (
  said: SessionPrompt,
  show: (progress: CompletionProgress) => void,
  signal: AbortSignal,
) => Promise<SessionAnswer>;

export interface SessionPrompt {
  readonly session: string;
  readonly agent: string | undefined;
  readonly text: string;
  readonly images: readonly HistoryImage[];
  readonly results: readonly ClientResult[];
  readonly client: ClientRequest;
  readonly idempotencyKey: string | null;
  readonly digest: string;
}

/** `step`: what was said so far is not the answer; the agent uses a tool, or begins again. */
export type CompletionProgress = { readonly type: "text"; readonly delta: string } | { readonly type: "step" };

/** What was said, without which request it answers. */
export interface SessionAnswer {
  readonly turnId: string;
  readonly sessionKey: string | null;
  readonly text: string;
  /** Client tools that the program is to run now. */
  readonly calls: readonly ClientCall[];
  /** Tools of the gateway, which ran already. */
  readonly toolCalls: readonly GatewayCall[];
  readonly usage: Usage;
}

export interface GatewayCall {
  readonly tool: string;
  readonly status: ToolStatus;
}

export interface Completion extends SessionAnswer {
  /** Unix seconds. */
  readonly created: number;
}
