/** Approvals as the web console knows them: a value and the pure functions that change it. Talks to nobody. */
import type { GatewayEvents } from "../../src/contracts/events.ts";
import type { ApprovalDecision, PendingApproval } from "../../src/contracts/tools/approval.ts";

export interface Approval extends PendingApproval {
  /** Null: it waits for an answer. */
  readonly decision: ApprovalDecision | "expired" | null;
  /** Of one that nobody answered: how long it waited, and what to do. */
  readonly say?: string;
}
/** In the order in which they were heard of. */
export type Approvals = readonly Approval[];

/** Those that have ended are kept for a while: their turn still shows them, and an answer that is late must not open them again. */
const MAX_ENDED = 50;

export function hearApproval(approvals: Approvals, news: GatewayEvents["approval"]): Approvals {
  const known = approvals.find(({ id }) => id === news.id);
  if (news.decision === null) return known ? approvals : [...approvals, news];
  const { by: _by, ...ended } = news;
  if (!known) return trimmed([...approvals, { ...ended, input: undefined, shown: "" }]);
  return trimmed(
    approvals.map((one) =>
      one.id === news.id ? { ...one, decision: news.decision, ...(news.say ? { say: news.say } : {}) } : one,
    ),
  );
}

/** To be called before asking the gateway for the open ones: those it does not name are not open any more. */
export function forgetOpen(approvals: Approvals): Approvals {
  return approvals.filter(({ decision }) => decision !== null);
}

export function addOpen(approvals: Approvals, open: readonly PendingApproval[]): Approvals {
  const fresh = open.filter(({ id }) => !approvals.some((one) => one.id === id));
  return [...approvals, ...fresh.map((one) => ({ ...one, decision: null }))];
}

/** What belongs into this conversation now: open ones, and those of the turn that is being answered. */
export function shownIn(approvals: Approvals, sessionKey: string, liveTurn: string | null): Approvals {
  const here = approvals.filter((one) => one.sessionKey === sessionKey);
  const lastOutside = here.findLast(({ turnId, decision }) => turnId === "" && decision !== null); // called by a program
  return here.filter((one) => one.decision === null || one.turnId === liveTurn || one === lastOutside);
}

export function openElsewhere(approvals: Approvals, sessionKey: string): Approvals {
  return approvals.filter((one) => one.decision === null && one.sessionKey !== sessionKey);
}

function trimmed(approvals: Approvals): Approvals {
  const ended = approvals.filter(({ decision }) => decision !== null);
  const gone = new Set(ended.slice(0, Math.max(0, ended.length - MAX_ENDED)));
  return approvals.filter((one) => !gone.has(one));
}
