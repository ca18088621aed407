/** Something a running turn wants to know from a person, asked in the chat it runs for: with buttons where there are some. */
import type { ChatAddress } from "../chat.ts";
import type { Principal } from "../ids.ts";

export type ChatQuestion =
  | { readonly kind: "select"; readonly title: string; readonly options: readonly string[] }
  | { readonly kind: "confirm"; readonly title: string; readonly text?: string }
  | { readonly kind: "input"; readonly title: string; readonly placeholder?: string };

/** `none`: nobody answered before the signal aborted, or it could not be asked. */
export type ChatAnswer =
  | { readonly kind: "chosen"; readonly option: string }
  | { readonly kind: "confirmed"; readonly yes: boolean }
  | { readonly kind: "said"; readonly text: string }
  | { readonly kind: "none" };

/** `of`: only this person, or an owner, can answer. */
export interface ChatAsker {
  ask(to: ChatAddress, of: Principal, question: ChatQuestion, signal: AbortSignal): Promise<ChatAnswer>;
}
