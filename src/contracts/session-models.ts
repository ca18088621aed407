/** Choosing a model for a conversation: the same answers for a chat, a program and the web console. */
import type { AgentModel, Caller } from "./agent.ts";
import type { ThinkingLevel } from "./session-settings.ts";

export interface SessionModels {
  /** What can be chosen. Throws GatewayError when no agent can say. */
  offer(caller: Caller, signal: AbortSignal): Promise<ModelOffer>;
  /** `words`: a whole name, or a part of one. Throws GatewayError when no agent can say. */
  find(caller: Caller, words: string, signal: AbortSignal): Promise<FoundModel>;
  /** Whether this model can be told to think that much. Throws GatewayError when no agent can say. */
  findLevel(
    caller: Caller,
    asked: { readonly words: string; readonly model: string | null },
    signal: AbortSignal,
  ): Promise<FoundLevel>;
}

export interface ModelOffer {
  readonly models: readonly AgentModel[];
  /** Providers whose keys are there besides; their models are chosen by their whole name. */
  readonly providers: readonly string[];
}

export type FoundModel =
  | { readonly kind: "found"; readonly model: AgentModel }
  | { readonly kind: "several"; readonly names: readonly string[] }
  | { readonly kind: "unknown"; readonly near: readonly string[] }
  /** No process could have a key for it. `variables`: where one is looked for. */
  | { readonly kind: "no_key"; readonly provider: string; readonly variables: readonly string[] };

export type FoundLevel =
  | { readonly kind: "found"; readonly level: ThinkingLevel }
  | { readonly kind: "unknown"; readonly near: string | null }
  | { readonly kind: "not_here"; readonly model: string; readonly levels: readonly ThinkingLevel[] };

/** What the gateway's settings and environment say about providers. */
export interface ProviderFacts {
  /** Endpoints of the configuration, and the models each serves. */
  readonly configured: Readonly<Record<string, readonly AgentModel[]>>;
  /** Providers pi knows, with the variables their keys are in, and whether one is there. */
  readonly known: Readonly<Record<string, { readonly variables: readonly string[]; readonly hasKey: boolean }>>;
}
