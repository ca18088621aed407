/** What running turns ask people, as the web console knows it: a value and the pure functions that change it. Talks to nobody. */
import type { OpenQuestion, QuestionNews } from "../../src/contracts/channels/question.ts";

/** In the order in which they were heard of. */
export type Questions = readonly QuestionNews[];

/** Those that have ended are kept for a while: their turn still shows them. */
const MAX_ENDED = 50;

export function hearQuestion(questions: Questions, news: QuestionNews): Questions {
  const known = questions.find(({ id }) => id === news.id);
  if (!known) return trimmed([...questions, news]);
  if (known.end !== null) return questions; // the first end counts
  return trimmed(questions.map((one) => (one.id === news.id ? news : one)));
}

/** What the gateway names is open; what it does not name is over, unless it was heard of since the gateway was asked. */
export function withOpen(questions: Questions, before: Questions, open: readonly OpenQuestion[]): Questions {
  const gone = new Set(before.filter(({ end }) => end === null).map(({ id }) => id));
  for (const { id } of open) gone.delete(id);
  const fresh = open.filter(({ id }) => !questions.some((one) => one.id === id));
  return [
    ...questions.filter(({ id, end }) => end !== null || !gone.has(id)),
    ...fresh.map((one) => ({ ...one, end: null })),
  ];
}

/** What belongs into this conversation now: open ones, and those of the turn that is being answered. */
export function shownIn(questions: Questions, sessionKey: string, liveTurn: string | null): Questions {
  return questions.filter((one) => one.sessionKey === sessionKey && (one.end === null || one.turnId === liveTurn));
}

/** People elsewhere are asked where they are; only conversations of the web console wait for whoever looks at it. */
export function openElsewhere(questions: Questions, sessionKey: string): Questions {
  return questions.filter(
    (one) => one.end === null && one.sessionKey !== sessionKey && one.sessionKey.includes(":webchat:"),
  );
}

function trimmed(questions: Questions): Questions {
  const ended = questions.filter(({ end }) => end !== null);
  const gone = new Set(ended.slice(0, Math.max(0, ended.length - MAX_ENDED)));
  return questions.filter((one) => !gone.has(one));
}
