/** The questions that people can see now. Each has exactly one end; whoever could still answer then hears that it is over. */
import type { Caller } from "../../contracts/agent.ts";
import type { Channel } from "../../contracts/channel.ts";
import type {
  Answerer,
  AnswerVerdict,
  ChatAnswer,
  ChatQuestion,
  GivenAnswer,
  OpenQuestion,
  QuestionEnd,
  ShownQuestion,
} from "../../contracts/channels/question.ts";
import type { InboundMessage } from "../../contracts/chat.ts";
import type { Events } from "../../contracts/events.ts";
import type { Role } from "../../contracts/ids.ts";
import type { ChatPoster } from "../../contracts/store/posts.ts";
import { background } from "../../kit/background.ts";
import type { Clock } from "../../kit/clock.ts";
import { type Deferred, deferred } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import { type Listening, mayAnswer, readAnswer, textFor } from "./decide.ts";
import { NO_BUTTONS, present, type Presented } from "./present.ts";

export interface OpenDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  readonly poster: ChatPoster;
  /** Those that are open now. */
  readonly channels: { get(id: string): Channel | undefined };
}

/** A platform that takes longer does not show it. */
const SHOW_MS = 30_000;
const OVER: AnswerVerdict = { kind: "refused", because: "over", say: "This question is over." };
export const NO_ANSWER: ChatAnswer = { kind: "none" };

interface Open extends Presented {
  readonly about: OpenQuestion;
  readonly raw: ChatQuestion;
  readonly to: Caller["origin"];
  readonly channel: Channel | undefined;
  readonly end: Deferred<ChatAnswer>;
  /** Null until people can see it: nobody answers what they have not seen. */
  shown: ShownQuestion | null;
  ended: QuestionEnd | null;
}

interface OpenQuestions {
  all(): readonly OpenQuestion[];
  /** Shows it and waits for its end. `raw`: as it was asked, for the answer. Never rejects. */
  ask(about: OpenQuestion, raw: ChatQuestion, of: Caller, signal: AbortSignal): Promise<ChatAnswer>;
  answer(id: string, given: GivenAnswer, by: Answerer): AnswerVerdict;
  hear(message: InboundMessage, role: Role): AnswerVerdict | null;
}

export function createOpenQuestions(deps: OpenDeps): OpenQuestions {
  const open = new Map<string, Open>();
  const end = (one: Open, ended: QuestionEnd, answer: ChatAnswer): void => {
    if (one.ended) return;
    one.ended = ended;
    open.delete(one.about.id);
    deps.events.emit("question", { ...one.about, end: ended });
    deps.log.info("question ended", { ...factsOf(one.about), how: ended.how, by: ended.by });
    takeAway(one, ended);
    one.end.resolve(answer);
  };
  const takeAway = (one: Open, ended: QuestionEnd): void =>
    background(deps.log, "end of a question not shown", () => one.shown?.close(closingOf(ended)));
  const give = (one: Open, given: GivenAnswer, by: Answerer): AnswerVerdict => {
    const may = mayAnswer({ principal: one.about.principal, to: one.to }, by);
    if (may === "over" || deps.clock.now() >= one.about.expiresAt) return OVER;
    if (may === "not_yours")
      return { kind: "refused", because: "not_yours", say: "This question is for somebody else." };
    const read = readAnswer(one.about.question, given, one.raw);
    if (read.kind === "unfit") return { kind: "refused", because: "unfit", say: read.say };
    end(one, endBy(by, read), read.answer);
    return { kind: "taken", say: read.said ?? "Thank you." };
  };
  /** Never rejects. */
  const show = async (one: Open): Promise<void> => {
    try {
      one.shown = await showIn(deps, one);
    } catch (error) {
      deps.log.warn("question not shown", { ...factsOf(one.about), error });
      end(one, cancelled("It could not be shown in this chat."), NO_ANSWER);
    }
    if (one.ended) takeAway(one, one.ended); // it ended while it was being shown
  };

  return {
    all: () => [...open.values()].map(({ about }) => about),
    answer(id, given, by) {
      const one = open.get(id);
      return one ? give(one, given, by) : OVER;
    },
    hear(message, role) {
      for (const one of open.values()) {
        const text = one.shown ? textFor(listening(one, one.shown), message, role) : null;
        if (text === null) continue;
        const { principal } = message.sender;
        return give(one, { kind: "words", text }, { principal, role, at: message.address });
      }
      return null;
    },
    async ask(about, raw, { origin: to }, signal) {
      const channel = deps.channels.get(to.channel);
      const presented = present(about.question, channel?.questions ?? NO_BUTTONS);
      const one: Open = { about, raw, ...presented, channel, to, end: deferred(), shown: null, ended: null };
      open.set(about.id, one);
      deps.events.emit("question", { ...about, end: null });
      deps.log.info("question asked", factsOf(about));
      using limit = deps.clock.deadline(about.expiresAt - deps.clock.now(), () => new Error("nobody answered"));
      const expired = () => end(one, { how: "expired", by: null, because: "Nobody answered in time." }, NO_ANSWER);
      const givenUp = () => end(one, cancelled("The turn that asked has ended."), NO_ANSWER);
      limit.signal.addEventListener("abort", expired, { once: true });
      signal.addEventListener("abort", givenUp, { once: true });
      void show(one);
      return await one.end.promise.finally(() => signal.removeEventListener("abort", givenUp));
    },
  };
}

export function cancelled(because: string): QuestionEnd {
  return { how: "cancelled", by: null, because };
}

/** Fields of a question for the log, without its text. */
export function factsOf({ id: questionId, sessionKey, turnId, question: { kind } }: OpenQuestion) {
  return { questionId, sessionKey, turnId, kind };
}

function endBy(
  { principal: by }: Answerer,
  read: { readonly answer: ChatAnswer; readonly said?: string },
): QuestionEnd {
  if (read.answer.kind === "none") return { how: "cancelled", by, because: "It was dismissed." };
  const because = read.said === undefined ? "Answered." : `Answered: ${read.said}`;
  return { how: "answered", by, because, ...(read.said === undefined ? {} : { said: read.said }) };
}

function closingOf({ how, because }: QuestionEnd): Parameters<ShownQuestion["close"]>[0] {
  const answered = how === "answered";
  return { answered, words: answered ? because : `${OVER.say} ${because}` };
}

function listening({ about, to, labels, channel }: Open, { messageId }: ShownQuestion): Listening {
  const { principal } = about;
  return { principal, to, messageId, wantsText: labels.length === 0, plain: channel?.questions === undefined };
}

/** Without buttons it is a message like any other, and is delivered like one. */
async function showIn({ clock, poster }: OpenDeps, one: Open): Promise<ShownQuestion> {
  const { about, to, text, labels, channel } = one;
  const { id, principal: of, sessionKey, turnId } = about;
  if (!channel) throw new Error(`the channel ${to.channel} is not open`);
  if (channel.questions) {
    using limit = clock.deadline(SHOW_MS, () => new Error("the platform took too long"));
    return await channel.questions.show({ id, to, of, sessionKey, text, labels }, limit.signal);
  }
  const message = { kind: "reply", text, format: "plain" } as const;
  const posted = await poster.post({ turnId, sessionKey, to, onceKey: `question:${id}`, message });
  if (posted.kind !== "posted") throw new Error(`not posted: ${posted.kind}`);
  return { messageId: null, close: async () => undefined };
}
