/** Names and earlier conversations: what a chat is called, and going back to what was talked about before. */
import type { Command, CommandContext } from "../contracts/command.ts";
import type { Events } from "../contracts/events.ts";
import type { Store } from "../contracts/store.ts";
import type { Conversation, ConversationAsker } from "../contracts/store/conversations.ts";
import type { Clock } from "../kit/clock.ts";
import { counted } from "../kit/counted.ts";
import { duration, oneLine } from "./replies.ts";
import { EVERYONE, MEMBERS } from "./roles.ts";

export interface ConversationCommandDeps {
  readonly clock: Clock;
  readonly events: Events;
  readonly store: Pick<Store, "sessions" | "conversations">;
}

const MAX_SHOWN = 10;
const NONE = "There is no earlier conversation to go back to. `/new` begins a new one and keeps this one.";

export function conversationCommands(deps: ConversationCommandDeps): readonly Command[] {
  return [
    {
      name: "resume",
      usage: "[number or words]",
      help: "Go back to an earlier conversation; this one is kept",
      roles: EVERYONE,
      run: (args, context) => resume(deps, args, context),
    },
    {
      name: "name",
      usage: "[words]",
      help: "Give this conversation a name, for lists",
      roles: MEMBERS,
      run: (args, context) => name(deps, args, context),
    },
  ];
}

async function name({ store, events }: ConversationCommandDeps, args: string, { sessionKey }: CommandContext) {
  if (args === "") {
    const title = (await store.sessions.get(sessionKey))?.title ?? "";
    return `This conversation is called: ${oneLine(title)}. \`/name words\` changes that, \`/name default\` takes a name back.`;
  }
  await store.sessions.rename(sessionKey, args.toLowerCase() === "default" ? null : args);
  events.emit("status", { what: "sessions" });
  return `This conversation is called: ${oneLine((await store.sessions.get(sessionKey))?.title ?? "")}.`;
}

async function resume(deps: ConversationCommandDeps, args: string, context: CommandContext): Promise<string> {
  const { store, clock, events } = deps;
  const { sessionKey, turnId } = context;
  const done = await store.conversations.resumedBy(sessionKey, turnId);
  if (done) return resumedText(done, clock.now());
  const asker = askerOf(context);
  const list = await store.conversations.list(asker, MAX_SHOWN);
  if (list.length === 0) return NONE;
  if (args === "") return listText(list, sessionKey, clock.now());
  const picked = pickConversation(list, args);
  if (picked.kind === "none") return `No earlier conversation fits.\n\n${listText(list, sessionKey, clock.now())}`;
  if (picked.kind === "several")
    return `Several fit. Choose by number:\n\n${listText(list, sessionKey, clock.now(), picked.numbers)}`;
  const result = await store.conversations.resume(asker, picked.conversation.file, { turnId, at: clock.now() });
  if (result.kind === "busy")
    return "It is being answered in another chat right now. Try again when that answer is there.";
  if (result.kind === "gone") return "That conversation is not there any more. `/resume` shows what there is.";
  events.emit("status", { what: "sessions" });
  return resumedText(result.conversation, clock.now());
}

/** A group shares its conversations among its members; nobody brings one in from elsewhere, or takes one out. */
function askerOf({ sessionKey, agentId, message }: CommandContext): ConversationAsker {
  return { sessionKey, agentId, principal: message.scope === "dm" ? message.sender.principal : null };
}

type Picked =
  | { readonly kind: "one"; readonly conversation: Conversation }
  | { readonly kind: "several"; readonly numbers: readonly number[] }
  | { readonly kind: "none" };

function pickConversation(list: readonly Conversation[], query: string): Picked {
  const number = /^\d{1,3}$/.test(query) ? Number(query) : null;
  const byNumber = number === null ? undefined : list[number - 1];
  if (byNumber) return { kind: "one", conversation: byNumber };
  const asked = query.toLowerCase();
  const numbers = list.flatMap(({ title }, at) => (title.toLowerCase().includes(asked) ? [at + 1] : []));
  const [first, ...more] = numbers;
  if (first === undefined) return { kind: "none" };
  const conversation = list[first - 1];
  return more.length > 0 || !conversation ? { kind: "several", numbers } : { kind: "one", conversation };
}

function listText(list: readonly Conversation[], here: string, now: number, only?: readonly number[]): string {
  const lines = list.flatMap(({ title, turns, lastAt, sessionKey }, at) => {
    if (only && !only.includes(at + 1)) return [];
    const where = sessionKey === here ? "" : `, in \`${sessionKey}\``;
    return [`${at + 1}. ${oneLine(title)}: ${counted(turns, "answer")}, ${duration(now - lastAt)} ago${where}`];
  });
  return [...lines, "", "`/resume number` goes back to one. This conversation is kept."].join("\n");
}

function resumedText({ title, turns, lastAt }: Conversation, now: number): string {
  return `Back in: ${oneLine(title)} (${counted(turns, "answer")}, last one ${duration(now - lastAt)} ago). The assistant remembers it; the conversation before this line is kept, \`/resume\` lists it.`;
}
