/** Answers to requests with an Idempotency-Key. One gateway answers such a request; a repeat, at whichever gateway, finds its answer here. */
import type { Principal } from "../ids.ts";

export interface IdempotentAnswerStore {
  /**
   * `mine`: this gateway answers it, and says with `keep` or `drop` what came of it. It is also told so of one that it began itself, or that a
   * gateway began which is gone: whoever asks knows what runs here. `elsewhere`: a gateway that lives is answering it. `reused`: the key was used
   * for another request.
   */
  claim(request: IdempotentRequest): Promise<AnswerClaim>;
  /** A later `claim` is told this answer; JSON. */
  keep(request: IdempotentKey, answer: unknown): Promise<void>;
  /** It was not answered: the next one with this key is answered anew. */
  drop(request: IdempotentKey): Promise<void>;
  /** Takes away what is older. */
  prune(before: number): Promise<number>;
}

export interface IdempotentKey {
  readonly principal: Principal;
  /** Among requests of this person. */
  readonly key: string;
}

export interface IdempotentRequest extends IdempotentKey {
  /** Of everything that was sent. */
  readonly digest: string;
  readonly at: number;
}

export type AnswerClaim =
  { readonly kind: "mine" | "elsewhere" | "reused" } | { readonly kind: "answered"; readonly answer: unknown };
