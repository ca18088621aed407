/**
 * Asks people what running turns want to know, one question of a session after the other. Each has exactly one end: an answer of somebody who
 * may give it, its deadline, or that nobody waits for it any more. Whatever fails here, the asker hears that there was no answer.
 */
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
  Questions,
  ShownQuestion,
} from "../../contracts/channels/question.ts";
import type { Events } from "../../contracts/events.ts";
import type { SessionKey } from "../../contracts/ids.ts";
import type { ChatPoster } from "../../contracts/store/posts.ts";
import type { Clock } from "../../kit/clock.ts";
import { type Deferred, deferred, orAborted } from "../../kit/deferred.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { type Listening, mayAnswer, readAnswer, whyNotAsk, wordsFor } from "./decide.ts";
import { createNotes } from "./notes.ts";
import { NO_BUTTONS, present, type Presented } from "./present.ts";

export interface QuestionsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly events: Events;
  readonly poster: ChatPoster;
  /** Those that are open now. */
  channels(): { get(id: string): Channel | undefined };
}

const ID_BYTES = 12;
/** A platform that takes longer does not show it. */
const SHOW_MS = 30_000;
const OVER = "This question is over.";
const NONE: ChatAnswer = { kind: "none" };

interface Open extends Presented {
  readonly about: OpenQuestion;
  readonly to: Caller["origin"];
  readonly channel: Channel | undefined;
  readonly end: Deferred<ChatAnswer>;
  /** Null until people can see it: nobody answers what they have not seen. */
  shown: ShownQuestion | null;
  ended: QuestionEnd | null;
}

export function createQuestions(deps: QuestionsDeps, options: () => { readonly waitMs: number }): Questions {
  const open = new Map<string, Open>();
  const line = createLine();

  const end = (one: Open, ended: QuestionEnd, answer: ChatAnswer): void => {
    if (one.ended) return;
    one.ended = ended;
    open.delete(one.about.id);
    deps.events.emit("question", { ...one.about, end: ended });
    deps.log.info("question ended", { ...factsOf(one.about), how: ended.how, by: ended.by });
    void one.shown?.close(closingOf(ended));
    one.end.resolve(answer);
  };
  const give = (one: Open, given: GivenAnswer, by: Answerer): AnswerVerdict => {
    if (deps.clock.now() >= one.about.expiresAt) return { kind: "refused", because: "over", say: OVER };
    const may = mayAnswer({ principal: one.about.principal, to: one.to }, by);
    if (may === "over") return { kind: "refused", because: "over", say: OVER };
    if (may === "not_yours")
      return { kind: "refused", because: "not_yours", say: "This question is for somebody else." };
    const read = readAnswer(one.about.question, given);
    if (read.kind === "unfit") return { kind: "refused", because: "unfit", say: read.say };
    end(one, endBy(by, read), read.answer);
    return { kind: "taken", say: read.said ?? "Thank you." };
  };
  const show = async (one: Open): Promise<void> => {
    try {
      one.shown = await showIn(deps, one);
    } catch (error) {
      deps.log.warn("question not shown", { ...factsOf(one.about), error });
      end(one, cancelled("It could not be shown in this chat."), NONE);
    }
    if (one.ended) await one.shown?.close(closingOf(one.ended)); // it ended while it was being shown
  };
  const askNow = async (about: OpenQuestion, of: Caller, signal: AbortSignal): Promise<ChatAnswer> => {
    const channel = deps.channels().get(of.origin.channel);
    const presented = present(about.question, channel?.questions ?? NO_BUTTONS);
    const one: Open = { about, ...presented, channel, to: of.origin, end: deferred(), shown: null, ended: null };
    open.set(about.id, one);
    deps.events.emit("question", { ...about, end: null });
    deps.log.info("question asked", factsOf(about));
    using limit = deps.clock.deadline(about.expiresAt - deps.clock.now(), () => new Error("nobody answered in time"));
    const expired = (): void => end(one, { how: "expired", by: null, because: "Nobody answered in time." }, NONE);
    const givenUp = (): void => end(one, cancelled("The turn that asked has ended."), NONE);
    limit.signal.addEventListener("abort", expired, { once: true });
    signal.addEventListener("abort", givenUp, { once: true });
    void show(one);
    return await one.end.promise.finally(() => signal.removeEventListener("abort", givenUp));
  };

  return {
    ...createNotes(deps),
    pending: () => [...open.values()].map(({ about }) => about),
    answer(id, given, by) {
      const one = open.get(id);
      return one ? give(one, given, by) : { kind: "refused", because: "over", say: OVER };
    },
    hear(message, { role }) {
      for (const one of open.values()) {
        const words = one.shown ? wordsFor(listening(one, one.shown), message, role) : null;
        if (words === null) continue;
        const { principal } = message.sender;
        return give(one, { kind: "words", text: words }, { principal, role, at: message.address });
      }
      return null;
    },
    async ask({ timeoutMs, ...question }, of, signal) {
      const because = whyNotAsk(question, of, line.crowd(of.sessionKey));
      if (because !== null) return refuse(deps, aboutOf(deps, question, of, 0), because);
      using patience = timeoutMs === undefined ? null : deps.clock.deadline(timeoutMs, () => new Error("given up"));
      const until = patience ? AbortSignal.any([signal, patience.signal]) : signal;
      const began = deps.clock.elapsed();
      using place = line.join(of.sessionKey);
      const isNext = await orAborted(place.turn, until).then(
        () => true,
        () => false, // whoever asked has not waited
      );
      if (!isNext || signal.aborted) return NONE;
      const leftMs = timeoutMs === undefined ? Infinity : timeoutMs - (deps.clock.elapsed() - began);
      return await askNow(aboutOf(deps, question, of, Math.min(options().waitMs, leftMs)), of, signal);
    },
  };
}

/** The order in which the questions of each session are asked. */
function createLine() {
  const last = new Map<SessionKey, Promise<void>>();
  const counts = new Map<SessionKey, number>();
  return {
    crowd: (key: SessionKey) => ({
      here: counts.get(key) ?? 0,
      everywhere: counts.values().reduce((sum, count) => sum + count, 0),
    }),
    join(key: SessionKey): Disposable & { readonly turn: Promise<void> } {
      const turn = last.get(key) ?? Promise.resolve();
      const done = deferred<void>();
      last.set(
        key,
        turn.then(() => done.promise),
      );
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return {
        turn,
        [Symbol.dispose]() {
          done.resolve();
          const left = (counts.get(key) ?? 1) - 1;
          if (left > 0) return void counts.set(key, left);
          counts.delete(key);
          last.delete(key);
        },
      };
    },
  };
}

function aboutOf({ clock, ids }: QuestionsDeps, question: ChatQuestion, of: Caller, waitMs: number): OpenQuestion {
  const { sessionKey, turnId, principal } = of;
  const askedAt = clock.now();
  const id = ids.secret(ID_BYTES);
  return { id, question, sessionKey, turnId, principal, askedAt, expiresAt: askedAt + Math.max(0, waitMs) };
}

function refuse({ log, events }: QuestionsDeps, about: OpenQuestion, because: string): ChatAnswer {
  log.info("question not asked", { ...factsOf(about), because });
  events.emit("question", { ...about, end: cancelled(because) });
  return NONE;
}

function cancelled(because: string): QuestionEnd {
  return { how: "cancelled", by: null, because };
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
  return { answered, words: answered ? because : `${OVER} ${because}` };
}

function listening({ about, to, labels, channel }: Open, { messageId }: ShownQuestion): Listening {
  const { principal } = about;
  return { principal, to, messageId, wantsWords: labels.length === 0, plain: channel?.questions === undefined };
}

/** Without buttons it is a message like any other, and is delivered like one. */
async function showIn({ clock, poster }: QuestionsDeps, one: Open): Promise<ShownQuestion> {
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

/** What may be said about it in a log: nothing of what it asks. */
function factsOf({ id: questionId, sessionKey, turnId, question: { kind } }: OpenQuestion) {
  return { questionId, sessionKey, turnId, kind };
}
