/** Nicks, channels and who somebody is. A nick is no identity: anybody can have it a minute later. Pure. */
import type { Line, Prefix } from "./line.ts";

/**
 * Names that differ only in this are the same everywhere. Some networks call `[` and `{` the same letter as well; here they stay two, because
 * on the others they are two people.
 */
export const fold = (name: string): string => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

export const isChannel = (name: string): boolean => /^[#&+!]/.test(name);

/** A word that can be written to: one nick or one channel, and nothing that reads as two. */
export const isTarget = (name: string): boolean => /^[^\s,:$\0\x07@!]{1,100}$/.test(name);

/** Everything but these is written as %XX, so that two people never get the same id and no id reads as something else. */
export function encode(text: string): string {
  const hex = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return [...text].map((letter) => (SAFE.test(letter) ? letter : [...Buffer.from(letter)].map(hex).join(""))).join("");
}

const SAFE = /^[\w.~[\]{}|^`\\/-]$/;

export interface Person {
  /** `alice` for an account, `alice!~al@host.example` for somebody without one. Cannot be taken for the other kind. */
  readonly id: string;
  readonly nick: string;
  /** `user@host`, encoded. */
  readonly from: string;
  readonly hasAccount: boolean;
}

/** Null: a server said it, or the network does not say who. `tellsAccounts`: the server has agreed to; otherwise no word about one counts. */
export function personOf({ tags, prefix }: Line, tellsAccounts: boolean): Person | null {
  if (!prefix || prefix.user === "" || prefix.host === "") return null;
  const from = fromOf(prefix);
  const account = tellsAccounts ? tags.get("account") : undefined;
  const hasAccount = account !== undefined && account !== "" && account !== "*";
  const id = hasAccount ? encode(account) : `${encode(fold(prefix.nick))}!${from}`;
  return { id, nick: prefix.nick, from, hasAccount };
}

export function fromOf({ user, host }: Pick<Prefix, "user" | "host">): string {
  return `${encode(user)}@${encode(host.toLowerCase())}`;
}

/** The nick and place that an id without an account names; null for an account. */
export function partsOf(id: string): { readonly nick: string; readonly from: string } | null {
  const bang = id.indexOf("!");
  return bang < 0 ? null : { nick: id.slice(0, bang), from: id.slice(bang + 1) };
}

/** `nick: words` or `nick, words` is said to us. The words without the name, or null when it is not. */
export function addressed(text: string, nick: string): string | null {
  if (fold(text.slice(0, nick.length)) !== fold(nick)) return null;
  const rest = text.slice(nick.length);
  return /^[:,]/.test(rest) ? rest.slice(1).trim() : null;
}
