/** Calls that wait for an owner's word: asked in the query they began in, answered there with `!yes 3` or `!no 3`. IRC has no buttons. */
import type { PlatformDeps } from "../../src/contracts/channels/platform.ts";
import type { Principal, Role, SessionKey } from "../../src/contracts/ids.ts";
import type { ApprovalNews } from "../../src/contracts/tools/approval.ts";
import { CHANNEL } from "./config.ts";
import { isChannel } from "./wire/names.ts";

export interface Questions extends Disposable {
  /** What is asked in this conversation is asked in this chat. */
  follow(sessionKey: SessionKey, chat: string): void;
  /** True: this was an answer, and there is nothing more to do about it. */
  answered(
    text: string,
    who: { readonly principal: Principal; readonly role: Role; readonly chat: string },
  ): Promise<boolean>;
}

export interface QuestionDeps extends Pick<PlatformDeps, "approvals" | "events"> {
  /** To this person and nobody who took their nick. Never rejects. */
  tell(chat: string, text: string): Promise<void>;
}

const MAX_CHATS = 5_000;
const MAX_INPUT_CHARS = 300;
const tooLong = (tool: string) =>
  `${tool} waits for an owner. What it would run with is too long to show here; decide in the web console.`;
const ANSWER = /^!(yes|no)\s+(\d{1,6})$/i;

export function createQuestions({ approvals, events, tell }: QuestionDeps): Questions {
  const chats = new Map<SessionKey, string>();
  /** Questions that are open, by the number people answer them with. */
  const open = new Map<string, { readonly id: string; readonly chat: string }>();
  let count = 0;
  const hear = (news: ApprovalNews): void => {
    if (news.decision !== null) {
      for (const [number, one] of open) if (one.id === news.id) open.delete(number);
      return;
    }
    const { origin } = news;
    const inQuery = origin?.channel === CHANNEL && !isChannel(origin.chat);
    const chat = inQuery ? origin.chat : chats.get(news.sessionKey);
    if (chat === undefined) return;
    const number = String(count + 1);
    const words = wordsOf(news, number);
    if (words === null) return void tell(chat, tooLong(news.tool)); // nobody allows what they cannot read
    count++;
    open.set(number, { id: news.id, chat });
    void tell(chat, words);
  };
  const listening = events.on("approval", hear);
  return {
    follow(sessionKey, chat) {
      const [oldest] = chats.keys();
      if (chats.size >= MAX_CHATS && oldest !== undefined) chats.delete(oldest);
      chats.set(sessionKey, chat);
    },
    async answered(text, { principal, role, chat }) {
      const [, word = "", number = ""] = ANSWER.exec(text) ?? [];
      const question = open.get(number);
      if (!question || question.chat !== chat || role !== "owner") return false;
      const decision = word.toLowerCase() === "yes" ? "once" : "deny";
      const done = await approvals.decide(question.id, decision, principal);
      if (done === "unknown") await tell(chat, "That question is not open any more.");
      return true;
    },
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}

/** Null: it is too long to be read here. */
function wordsOf({ tool, because, shown }: Extract<ApprovalNews, { decision: null }>, number: string): string | null {
  const flat = shown.replaceAll(/\n */g, " "); // line ends inside of a text are written out in it
  if (flat.length > MAX_INPUT_CHARS) return null;
  return `May ${tool} run? (${because})\nIt would run with ${flat}\nAn owner answers !yes ${number} or !no ${number}.`;
}
