/**
 * A group that becomes a supergroup gets another number. The gateway goes on calling it by its first one: rules, conversations and replies
 * that wait are filed under that. Telegram is told the number it has now, and what comes from there is filed where the group always was.
 */
import type { Log } from "../../../kit/log.ts";
import type { AccountState } from "../../kit/index.ts";
import type { BotApi, Method } from "./bot-api.ts";
import { Fault } from "./faults.ts";

export interface MovedChats {
  /** What Telegram calls this chat now. */
  now(chat: string): string;
  /** What the gateway has always called it. */
  first(chat: string): string;
  /** Durable when it resolves. */
  learn(from: string, to: string): Promise<void>;
}

const KEY = "moved";
/** The ones that moved longest ago are forgotten first. */
const MAX_MOVED = 1_000;

export async function openMovedChats(deps: { readonly facts: AccountState; readonly log: Log }): Promise<MovedChats> {
  const stored = await deps.facts.get(KEY);
  const known = new Map<string, string>(stored === null ? [] : (JSON.parse(stored) as [string, string][])); // written below
  const firsts = new Map([...known].map(([from, to]) => [to, from]));
  const first = (chat: string): string => firsts.get(chat) ?? chat;
  return {
    now: (chat) => known.get(chat) ?? chat,
    first,
    async learn(from, to) {
      const chat = first(from);
      if (known.get(chat) === to || chat === to) return;
      const next = [...known].filter(([one]) => one !== chat).slice(-(MAX_MOVED - 1));
      await deps.facts.put(KEY, JSON.stringify([...next, [chat, to]]));
      known.set(chat, to);
      firsts.set(to, chat);
      deps.log.info("telegram group has another number now", { chat, now: to });
    },
  };
}

/** Calls go to where a chat is now. A send that is told "it has moved" is made there; messages have other numbers there, so nothing else is. */
export function followMoves(api: BotApi, moved: MovedChats): BotApi {
  const run = async (
    method: Method,
    payload: object,
    call: (payload: object) => Promise<unknown>,
  ): Promise<unknown> => {
    const { chat_id: given } = payload as { readonly chat_id?: string | number };
    if (given === undefined) return call(payload);
    const chat = String(given);
    try {
      return await call({ ...payload, chat_id: moved.now(chat) });
    } catch (error) {
      const to = error instanceof Fault && error.info.kind === "refused" ? error.info.movedTo : undefined;
      if (to === undefined) throw error;
      await moved.learn(chat, to);
      if (!method.startsWith("send")) throw error;
      return await call({ ...payload, chat_id: to });
    }
  };
  return {
    ...api,
    call: ((method, payload, signal) =>
      run(method, payload, (asked) => api.call(method, asked as typeof payload, signal))) as BotApi["call"],
    slowCall: ((method, payload, signal, ms) =>
      run(method, payload, (asked) => api.slowCall(method, asked as typeof payload, signal, ms))) as BotApi["slowCall"],
  };
}
