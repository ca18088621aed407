/** The first setup of a gateway, by `pi-gw init` and in the web console: what a person wants, how a try of it went, and what is set up. Types only. */
import type { Secret } from "../kit/secret.ts";

export type ModelWish =
  | { readonly kind: "demo" }
  /** `model` null: the first good one of those that the provider lists. */
  | { readonly kind: "key"; readonly provider: string; readonly key: Secret; readonly model: string | null }
  | { readonly kind: "login"; readonly folder: string }
  | { readonly kind: "endpoint"; readonly baseUrl: string; readonly key: Secret | null; readonly model: string | null };

export interface ChannelWish {
  readonly channel: "telegram" | "discord";
  readonly token: Secret;
}

/** Null: that step is left for later. */
export interface SetupWishes {
  readonly model: ModelWish | null;
  readonly channel: ChannelWish | null;
  /** Ids such as telegram:user:123, added to those that are there. */
  readonly owners: readonly string[];
  /** The gateway makes a backup every day. */
  readonly backup: boolean;
}

/** The same as programs and the web console send it. What is left out is left for later. */
export interface SetupInput {
  readonly model?: ModelInput;
  readonly channel?: { readonly channel: ChannelWish["channel"]; readonly token: string };
  readonly owners?: readonly string[];
  readonly backup?: boolean;
  /** False: it is written without being tried. */
  readonly test?: boolean;
}

export type ModelInput =
  | { readonly kind: "demo" }
  | { readonly kind: "key"; readonly provider: string; readonly key: string; readonly model?: string }
  | { readonly kind: "login"; readonly folder?: string }
  | { readonly kind: "endpoint"; readonly baseUrl: string; readonly key?: string; readonly model?: string };

/** A try of one step for real, which spends nothing. */
export interface SetupTest {
  readonly ok: boolean;
  /** What happened, and what to do if it did not work: a whole sentence. */
  readonly say: string;
  /** Ids of models that the provider or server lists. */
  readonly models: readonly string[];
}

export interface SetupCheck {
  readonly check: "model" | "channel" | "notifications" | "backup";
  readonly done: boolean;
  /** How it is, and what to do if it is not done: whole sentences. */
  readonly say: string;
}

export interface SavedSetup {
  /** False: a try failed or the settings would not be valid, and nothing was changed. */
  readonly written: boolean;
  readonly tests: readonly (Omit<SetupTest, "models"> & { readonly step: "model" | "channel" })[];
  /** Why it was not written, or is not in force. */
  readonly problems: readonly string[];
}

export interface Setup {
  checks(): Promise<readonly SetupCheck[]>;
  test(wish: ModelWish | ChannelWish, signal: AbortSignal): Promise<SetupTest>;
  /** Tries each step, unless `test` is false, and writes all of them or nothing. */
  save(wishes: SetupWishes, test: boolean, signal: AbortSignal): Promise<SavedSetup>;
}
