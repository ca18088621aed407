/** Words of others inside a message: what they mean for the message, and how people and models are shown whose they are. */
import type { Ids } from "../ids.ts";
import { oneLine } from "./markers.ts";
import { wrapUntrusted } from "./untrusted.ts";

interface Quoted {
  readonly how: "reply" | "forward" | "shared" | "result";
  readonly author: { readonly id: string | null; readonly name: string };
  readonly text: string;
  /** The message is shown beside this one, by this id. */
  readonly ownId?: string;
}

const SOURCE = {
  reply: "message that this replies to",
  forward: "forwarded message",
  shared: "shared item",
  result: "result of your call of a client tool",
} as const;

export function isQuotedList(value: unknown): value is readonly Quoted[] {
  return Array.isArray(value) && value.every(isQuoted);
}

function isQuoted(value: unknown): value is Quoted {
  if (typeof value !== "object" || value === null) return false;
  const { how, author, text } = value as Partial<Record<keyof Quoted, unknown>>;
  if (typeof how !== "string" || !Object.hasOwn(SOURCE, how) || typeof author !== "object" || author === null)
    return false;
  const { id, name } = author as Partial<Record<keyof Quoted["author"], unknown>>;
  return (id === null || typeof id === "string") && typeof name === "string" && typeof text === "string";
}

/** The message is somebody else's, passed on by its sender: no command and no answer, whatever it says. A reply is its sender's own. */
export function passesOn(quoted: readonly Pick<Quoted, "how">[]): boolean {
  return quoted.some(({ how }) => how !== "reply");
}

/** What a file says, and what is missing of it, belongs to whoever wrote the message it came with. */
export function appendText<Q extends Quoted>(
  { text, quoted }: { readonly text: string; readonly quoted: readonly Q[] },
  added: readonly string[],
): { readonly text: string; readonly quoted: readonly Q[] } {
  const append = (to: string) => [to, ...added].filter((part) => part !== "").join("\n");
  const last = quoted.findLastIndex(({ how }) => how === "forward");
  if (last < 0) return { text: append(text), quoted };
  return { text, quoted: quoted.map((one, at) => (at === last ? { ...one, text: append(one.text) } : one)) };
}

/** For the model: a block for each, with its author's id and name. */
export function wrapQuoted(ids: Ids, { how, author, text }: Quoted): string {
  return wrapUntrusted(ids, { source: SOURCE[how], author, text });
}

/** The message of this session that a message replies to, and the words to be shown with it: what is shown by its id is not written out as well. */
export function answeredText(
  text: string,
  quoted: readonly Quoted[],
): { readonly text: string; readonly replyTo?: string } {
  const replyTo = quoted.find(({ ownId }) => ownId !== undefined)?.ownId;
  const others = quoted.filter(({ ownId }) => ownId === undefined);
  return { text: withQuoted(text, others), ...(replyTo === undefined ? {} : { replyTo }) };
}

/** For people who read along: the quoted words first, each under a line that says whose they are. */
export function withQuoted(text: string, quoted: readonly Quoted[]): string {
  return [...quoted.map(lines), text].filter((part) => part !== "").join("\n");
}

function lines({ how, author, text }: Quoted): string {
  const name = oneLine(author.name) || (author.id ?? "somebody");
  if (how === "reply" && text === "") return ""; // a picture, for example: which one it is is known by its id
  if (how === "reply") return `[In reply to ${name}: ${oneLine(text)}]`;
  if (how === "result") return `[Result of ${name}]\n${text}`;
  const head = how === "shared" ? `[${oneLine(text)}]` : `[Forwarded from ${name}]`;
  return how === "shared" || text === "" ? head : `${head}\n${text}`;
}
