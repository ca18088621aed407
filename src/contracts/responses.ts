/** OpenResponses: what a response is asked for with, the object that programs read, and the events in which it grows. */
import type { RequestMessage, Asking } from "./openai.ts";
import type { ClientTool } from "./client-request.ts";
import type { Principal } from "./ids.ts";

export interface ResponsesDoor extends AsyncDisposable {
  /** Throws GatewayError with the name of the wrong field in `fields.param`. `session`: what the header says. */
  read(body: unknown, session: string | null): ResponseRequest;
  /**
   * Answers it: events go to `show`. Throws GatewayError while nothing was shown, or `signal.reason`: then the turn is stopped. What fails
   * after that is told by events, and the response says so; with `shows: "whole"` everything that fails is thrown.
   */
  create(asked: AskedResponse, show: (event: ResponseEvent) => void, signal: AbortSignal): Promise<Created>;
  /** Stores it and answers it later, whoever hangs up. Throws GatewayError `queue_full`. */
  begin(asked: AskedResponse): Promise<ResponseObject>;
  /** As it is now; null: this person has none of that id. */
  find(id: string, principal: Principal): Promise<ResponseObject | null>;
  /** Shows what comes after the event of this number (null: from the first one on) until the end. Throws GatewayError `not_found`. */
  follow(asked: FollowedResponse, show: (event: ResponseEvent) => void, signal: AbortSignal): Promise<void>;
  /** False: this person has none of that id. One that runs is stopped first. */
  remove(id: string, principal: Principal): Promise<boolean>;
  /** Ends one that was begun; one that has ended stays as it is. Throws GatewayError `not_found`, or `bad_request` for one that runs with its request. */
  cancel(id: string, principal: Principal): Promise<ResponseObject>;
  compact(asked: AskedCompaction, signal: AbortSignal): Promise<CompactedResponse>;
  /** What a previous process had begun has failed. Call it once, before the first request. */
  recover(): Promise<number>;
  /** What a gateway had begun from which this one has taken over has failed. How many of them were open. */
  endLeft(ids: readonly string[]): Promise<number>;
}

export interface AskedResponse extends Asking {
  readonly request: ResponseRequest;
  /** `socket`: events, without the one that announces an error. */
  readonly shows: "whole" | "events" | "socket";
  /** What the connection remembers of the response before this one; null: nothing. With it nothing is looked up in the store. */
  readonly recalled: RecalledResponse | null;
}

export interface AskedCompaction extends Asking {
  readonly body: unknown;
}

interface FollowedResponse {
  readonly id: string;
  readonly principal: Principal;
  readonly after: number | null;
}

export interface Created {
  readonly response: ResponseObject;
  /** All that was said up to it, for a connection that goes on with it; null: more than a connection remembers. */
  readonly said: SaidItems | null;
}

/** A connection's own memory of responses that are not stored. */
interface RecalledResponse {
  /** Null: it knows none of this id. */
  find(id: string): SaidItems | null;
  /** What is not known here may be looked for in the store. */
  readonly orStored: boolean;
}

/** Messages of a conversation, and instructions among them. */
export interface SaidItems {
  readonly messages: readonly RequestMessage[];
  readonly system: readonly string[];
}

export interface ResponseRequest {
  readonly agent: string | undefined;
  /** Null: a conversation of its own. */
  readonly session: string | null;
  readonly previous: string | null;
  readonly input: readonly GivenItem[];
  /** Tools that the model may call; the response names all that were sent. */
  readonly tools: readonly ClientTool[];
  readonly stream: boolean;
  /** What the response says about its request. */
  readonly settings: ResponseSettings;
}

/** One item of the input, read and not yet looked up. */
export type GivenItem =
  | { readonly kind: "system"; readonly text: string }
  | {
      readonly kind: "user";
      readonly text: string;
      readonly images: readonly string[];
      readonly files: readonly GivenFile[];
    }
  | { readonly kind: "assistant"; readonly text: string }
  | { readonly kind: "call"; readonly callId: string; readonly tool: string; readonly input: unknown }
  | { readonly kind: "result"; readonly callId: string; readonly text: string }
  /** An item that an earlier response has. */
  | { readonly kind: "reference"; readonly id: string; readonly param: string };

export interface GivenFile {
  readonly name: string;
  /** `data:` or `https:`. */
  readonly url: string;
}

export type ResponseStatus = "queued" | "in_progress" | "completed" | "failed" | "cancelled";

/** Every member is there in every response, as the specification asks. */
export interface ResponseSettings {
  readonly model: string;
  readonly previous_response_id: string | null;
  readonly instructions: string | null;
  readonly tools: readonly object[];
  readonly tool_choice: unknown;
  readonly truncation: string;
  readonly parallel_tool_calls: boolean;
  readonly text: object;
  readonly top_p: number;
  readonly presence_penalty: number;
  readonly frequency_penalty: number;
  readonly top_logprobs: number;
  readonly temperature: number;
  readonly reasoning: object;
  readonly max_output_tokens: number | null;
  readonly max_tool_calls: number | null;
  readonly store: boolean;
  readonly background: boolean;
  readonly service_tier: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly safety_identifier: string | null;
  readonly prompt_cache_key: string | null;
  readonly user: string | null;
}

export interface ResponseObject extends ResponseSettings {
  readonly id: string;
  readonly object: "response";
  /** Unix seconds. */
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly status: ResponseStatus;
  readonly incomplete_details: null;
  readonly output: readonly OutputItem[];
  readonly error: ResponseError | null;
  readonly usage: ResponseUsage | null;
  /** Our own: what the gateway did for it. Null while it runs. */
  readonly pi_gateway: object | null;
}

interface ResponseError {
  readonly code: string;
  readonly message: string;
}

export type OutputItem =
  | {
      readonly id: string;
      readonly type: "message";
      readonly status: "in_progress" | "completed";
      readonly role: "assistant";
      readonly content: readonly OutputText[];
      readonly phase: "commentary" | "final_answer";
    }
  | {
      readonly id: string;
      readonly type: "function_call";
      readonly status: "in_progress" | "completed";
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    };

export interface OutputText {
  readonly type: "output_text";
  readonly text: string;
  readonly annotations: readonly never[];
  readonly logprobs: readonly never[];
}

export interface ResponseUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}

export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [member: string]: unknown;
}

export interface CompactedResponse {
  readonly id: string;
  readonly object: "response.compaction";
  readonly created_at: number;
  readonly output: readonly object[];
  readonly usage: ResponseUsage;
}
