/** What is remembered of requests to hooks, so that each has its effect once. Only digests are kept. */

export interface WebhookMarkStore {
  /**
   * Notes a request before anything is done for it; marks that have expired are dropped. One transaction. What an earlier request has begun
   * and not `stored` is begun again under the same id.
   */
  admit(request: MarkedRequest): Promise<WebhookAdmission>;
  /** What the request asked for is on record: from now on it is never begun again. */
  stored(requestId: string): Promise<void>;
}

export interface MarkedRequest {
  readonly requestId: string;
  readonly hook: string;
  /** Digest of body and time, where it was signed: by itself it names one request, whatever the headers say. */
  readonly signed: string | null;
  /** Digest of the key its sender gave it. */
  readonly key: string | null;
  /** Digest of the content. */
  readonly fingerprint: string;
  readonly at: number;
  readonly expiresAt: number;
}

export type WebhookAdmission =
  /** To be done under this id. */
  | { readonly kind: "begin"; readonly requestId: string }
  /** Done before, for the same key and the same content. */
  | { readonly kind: "same"; readonly requestId: string }
  /** Done before, and this is the very same request once more. */
  | { readonly kind: "replayed"; readonly requestId: string }
  | { readonly kind: "key_reused" };
