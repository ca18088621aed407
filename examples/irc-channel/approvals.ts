/** Calls that wait for an owner: asked in the query they began in, answered there with `!yes 3` or `!no 3`. IRC has no buttons. */
import type { ApprovalMessages, Arrival, ChannelKit, PendingApproval, Role } from "pi-gateway/plugin";
import { ACCOUNT, CHANNEL } from "./config.ts";
import { isChannel } from "./wire/names.ts";

export interface IrcApprovals extends Pick<ApprovalMessages, "open" | "settled">, Disposable {
  /** True: this was an answer, and there is nothing more to do about it. */
  answered(text: string, by: Omit<Arrival, "kind">, role: Role): Promise<boolean>;
}

export interface ApprovalDeps {
  readonly kit: Pick<ChannelKit, "remember" | "startApprovals">;
  connected(): boolean;
  /** To this person and nobody who took their nick. Never rejects. */
  tell(chat: string, text: string): Promise<void>;
}

const MAX_OPEN = 1_000;
const MAX_INPUT_CHARS = 300;
const AGAIN_MS = 5_000;
const ANSWER = /^!(yes|no)\s+(\d{1,6})$/i;

export function startApprovals({ kit, connected, tell }: ApprovalDeps, signal: AbortSignal): IrcApprovals {
  /** Approvals by the number that people answer them with. */
  const numbers = new Map<string, string>();
  let count = 0;
  const platform = {
    channel: CHANNEL,
    account: ACCOUNT,
    async post(approval: PendingApproval): Promise<string | null> {
      if (!connected()) throw new Error("not connected");
      const { id, tool, origin } = approval;
      if (isChannel(origin.chat)) return null; // everybody there would read it
      const number = String(count + 1);
      const words = wordsOf(approval, number);
      if (words === null) {
        await tell(origin.chat, tooLong(tool)); // nobody allows what they cannot read
        return null;
      }
      count++;
      kit.remember(numbers, number, id, MAX_OPEN);
      await tell(origin.chat, words);
      return number;
    },
    removeButtons: async (_to: unknown, number: string) => void numbers.delete(number),
    reply: ({ chat }: { readonly chat: string }, _number: string, text: string) => tell(chat, text),
    retryAfterMs: () => AGAIN_MS,
  };
  const messages = kit.startApprovals(platform, signal);
  return {
    open: () => messages.open(),
    settled: () => messages.settled(),
    async answered(text, by, role) {
      const [, word = "", number = ""] = ANSWER.exec(text) ?? [];
      const approval = numbers.get(number);
      if (approval === undefined || role !== "owner") return false;
      const decision = word.toLowerCase() === "yes" ? "once" : "deny";
      const outcome = await messages.decide({ approval, decision, messageId: number, by, role });
      if (outcome === "over") await tell(by.address.chat, "That question is not open any more.");
      return true;
    },
    [Symbol.dispose]: () => messages[Symbol.dispose](),
  };
}

const tooLong = (tool: string): string =>
  `${tool} waits for an owner. What it would run with is too long to show here; decide in the web console.`;

/** Null: it is too long to be read here. */
function wordsOf({ tool, because, shown }: PendingApproval, number: string): string | null {
  const flat = shown.replaceAll(/\n */g, " "); // line ends inside of a text are written out in it
  if (flat.length > MAX_INPUT_CHARS) return null;
  return `May ${tool} run? (${because})\nIt would run with ${flat}\nAn owner answers !yes ${number} or !no ${number}.`;
}
