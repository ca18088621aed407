/** Keys of model providers for an operator: which are there, and whether one works. No key is ever shown. Types only. */

export interface ProviderCard {
  readonly name: string;
  /** Where its key comes from; null: there is none. An endpoint of the operator's own may need none. */
  readonly keyFrom: "settings" | "environment" | null;
  /** An endpoint of `models.providers`. */
  readonly isOwn: boolean;
  /** It is known where it lists its models. */
  readonly canTest: boolean;
}

export interface KeyTest {
  readonly ok: boolean;
  /** What happened, without an end. */
  readonly say: string;
  /** Ids as the provider lists them. */
  readonly models: readonly string[];
}

export interface ModelKeys {
  providers(): readonly ProviderCard[];
  /** `key` null: the one that is set. Null: there is no such provider. */
  test(provider: string, key: string | null, signal: AbortSignal): Promise<KeyTest | null>;
}
