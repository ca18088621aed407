/** Questions to the owner as the web console knows them: a value and the pure functions that change it. Talks to nobody. */
import type { GatewayEvents } from "../../src/contracts/events.ts";
import type { ApprovalDecision, PendingApproval } from "../../src/contracts/tools/approval.ts";

export interface Question extends PendingApproval {
  /** Null: it waits for an answer. */
  readonly decision: ApprovalDecision | "expired" | null;
  /** Of one that nobody answered: how long it waited, and what to do. */
  readonly say?: string;
}
/** In the order in which they were heard of. */
export type Questions = readonly Question[];

/** Those that have ended are kept for a while: their turn still shows them, and an answer that is late must not open them again. */
const MAX_ENDED = 50;

export function hear(questions: Questions, news: GatewayEvents["approval"]): Questions {
  const known = questions.find(({ id }) => id === news.id);
  if (news.decision === null) return known ? questions : [...questions, news];
  const { by: _by, ...ended } = news;
  if (!known) return trimmed([...questions, { ...ended, input: undefined, shown: "" }]);
  return trimmed(
    questions.map((one) =>
      one.id === news.id ? { ...one, decision: news.decision, ...(news.say ? { say: news.say } : {}) } : one,
    ),
  );
}

/** To be called before asking the gateway for the open ones: those it does not name are not open any more. */
export function forgetOpen(questions: Questions): Questions {
  return questions.filter(({ decision }) => decision !== null);
}

export function addOpen(questions: Questions, open: readonly PendingApproval[]): Questions {
  const fresh = open.filter(({ id }) => !questions.some((one) => one.id === id));
  return [...questions, ...fresh.map((one) => ({ ...one, decision: null }))];
}

/** What belongs into this conversation now: open questions, and those of the turn that is being answered. */
export function shownIn(questions: Questions, sessionKey: string, liveTurn: string | null): Questions {
  const here = questions.filter((one) => one.sessionKey === sessionKey);
  const lastOutside = here.findLast(({ turnId, decision }) => turnId === "" && decision !== null); // called by a program
  return here.filter((one) => one.decision === null || one.turnId === liveTurn || one === lastOutside);
}

export function openElsewhere(questions: Questions, sessionKey: string): Questions {
  return questions.filter((one) => one.decision === null && one.sessionKey !== sessionKey);
}

function trimmed(questions: Questions): Questions {
  const ended = questions.filter(({ decision }) => decision !== null);
  const gone = new Set(ended.slice(0, Math.max(0, ended.length - MAX_ENDED)));
  return questions.filter((one) => !gone.has(one));
}
