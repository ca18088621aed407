/**
 * Asks people what running turns want to know, one question of a session after the other. Whatever fails here, the asker hears that there
 * was no answer.
 */
import type { Caller } from "../../contracts/agent.ts";
import type { ChatAnswer, ChatQuestion, OpenQuestion, Questions } from "../../contracts/channels/question.ts";
import type { SessionKey } from "../../contracts/ids.ts";
import { deferred, orAborted } from "../../kit/deferred.ts";
import type { Ids } from "../../kit/ids.ts";
import { writeOut } from "../../kit/marks/written-out.ts";
import { maskTexts, NO_MASK, type SecretMask } from "../../kit/secret.ts";
import { whyNotAsk } from "./decide.ts";
import { createNotes } from "./notes.ts";
import { cancelled, createOpenQuestions, factsOf, NO_ANSWER, type OpenDeps } from "./open-questions.ts";

interface QuestionsDeps extends OpenDeps {
  readonly ids: Ids;
  /** Without it nothing is known to be secret. */
  readonly mask?: SecretMask;
}

const ID_BYTES = 12;

export function createQuestions(deps: QuestionsDeps, options: () => { readonly waitMs: number }): Questions {
  const open = createOpenQuestions(deps);
  const line = createLine();
  return {
    ...createNotes(deps),
    pending: open.all,
    answer: open.answer,
    answerAnywhere: async (id, given, by) => open.answer(id, given, by),
    hear: (message, { role }) => open.hear(message, role),
    hearAnywhere: async (message, { role }) => open.hear(message, role),
    async ask({ timeoutMs, ...raw }, of, signal) {
      const masked = maskTexts(raw, deps.mask ?? NO_MASK) as ChatQuestion; // texts stay texts
      const question = writtenOut(masked);
      const because = whyNotAsk(question, of, line.crowd(of.sessionKey));
      if (because !== null) return refuse(deps, aboutOf(deps, question, of, 0), because);
      using patience = timeoutMs === undefined ? null : deps.clock.deadline(timeoutMs, () => new Error("given up"));
      const until = patience ? AbortSignal.any([signal, patience.signal]) : signal;
      const began = deps.clock.elapsed();
      using spot = line.join(of.sessionKey);
      const isNext = await orAborted(spot.isNext, until).then(
        () => true,
        () => false, // whoever asked has not waited
      );
      if (!isNext || signal.aborted) return NO_ANSWER;
      const leftMs = timeoutMs === undefined ? Infinity : timeoutMs - (deps.clock.elapsed() - began);
      return await open.ask(aboutOf(deps, question, of, Math.min(options().waitMs, leftMs)), raw, of, signal);
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
    join(key: SessionKey): Disposable & { readonly isNext: Promise<void> } {
      const isNext = last.get(key) ?? Promise.resolve();
      const done = deferred<void>();
      last.set(
        key,
        isNext.then(() => done.promise),
      );
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return {
        isNext,
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
  return {
    id,
    question,
    sessionKey,
    turnId,
    principal,
    askedAt,
    expiresAt: askedAt + Math.max(0, waitMs),
  };
}

/** Once and for all: every channel, the web console and every program show it like this. */
function writtenOut(question: ChatQuestion): ChatQuestion {
  const title = writeOut(question.title);
  if (question.kind === "select") return { ...question, title, options: question.options.map(writeOut) };
  if (question.kind === "confirm")
    return { ...question, title, ...(question.text === undefined ? {} : { text: writeOut(question.text) }) };
  return {
    ...question,
    title,
    ...(question.placeholder === undefined ? {} : { placeholder: writeOut(question.placeholder) }),
    ...(question.prefill === undefined ? {} : { prefill: writeOut(question.prefill) }),
  };
}

function refuse({ log, events }: QuestionsDeps, about: OpenQuestion, because: string): ChatAnswer {
  log.info("question not asked", { ...factsOf(about), because });
  events.emit("question", { ...about, end: cancelled(because) });
  return NO_ANSWER;
}
