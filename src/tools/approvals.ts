/**
 * Asks owners about a call and waits. Each question is stored before anybody sees it and has exactly one end: an answer, its deadline, or
 * that nobody waits for it any more. Whatever fails here, the call does not run.
 */
import type { Events } from "../contracts/events.ts";
import type { Principal } from "../contracts/ids.ts";
import type { ApprovalEnd, ApprovalStore, EndedApproval } from "../contracts/store/approvals.ts";
import type {
  AlwaysWish,
  ApprovalAnswer,
  ApprovalQuestion,
  Approvals,
  ApproverChat,
  PendingApproval,
} from "../contracts/tools/approval.ts";
import type { Clock } from "../kit/clock.ts";
import { type Deferred, deferred } from "../kit/deferred.ts";
import { durationText } from "../kit/duration.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { writeOut, writeOutJson } from "../kit/marks/written-out.ts";
import { MAX_RULES_PER_AGENT, newRule, type UsableRules } from "./rules/approval-rules.ts";
import { ruleChoices } from "./rules/reach.ts";

interface ApprovalsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly events: Events;
  readonly store: ApprovalStore;
  readonly rules: Pick<UsableRules, "allow" | "made">;
  /** Whether this person is an owner now. */
  mayDecide(by: Principal, at: ApproverChat | null): Promise<boolean>;
}

/** More than a person answers one by one. */
export const MAX_OPEN_PER_SESSION = 10;
export const MAX_OPEN = 100;

interface Open {
  readonly question: ApprovalQuestion;
  readonly shown: PendingApproval;
  /** What an answer for the session holds for. */
  readonly covers: string;
  readonly answer: Deferred<ApprovalAnswer>;
  /** Before that nobody sees it: what was shown survives a crash. */
  stored: boolean;
  /** Its time is over, not its turn. */
  late: boolean;
}

type Ended = Pick<EndedApproval, "decision"> & { readonly by: Principal | null };

export function createApprovals(deps: ApprovalsDeps, options: () => { readonly waitMs: number }): Approvals {
  const open = new Map<string, Open>();

  /** False: it has ended before, by somebody else. */
  const end = async (entry: Open, made: ApprovalEnd): Promise<boolean> => {
    if (!(await deps.store.end(entry.shown.id, made))) return false;
    close(entry, made);
    return true;
  };
  const close = (entry: Open, ended: Ended): void => {
    open.delete(entry.shown.id);
    tellEnd(deps, entry, ended);
    entry.answer.resolve(ended.decision === "always" ? "once" : ended.decision);
  };
  /** Nobody waits for the disk: what could not be written is expired by the next start. Never rejects. */
  const expire = async (entry: Open): Promise<void> => {
    const made: ApprovalEnd = { decision: "expired", by: null, at: deps.clock.now() };
    try {
      await end(entry, made);
    } catch (error) {
      deps.log.error("end of an approval could not be recorded", { approvalId: entry.shown.id, error });
      close(entry, made);
    }
  };

  return {
    pending: () => [...open.values()].filter(({ stored }) => stored).map(({ shown }) => shown),
    async decide(id, decision, by, from) {
      const isNotification = from === "notification";
      if (!(await deps.mayDecide(by, isNotification ? null : (from ?? null)))) return "not_allowed";
      const entry = open.get(id);
      if (!entry) return "unknown";
      // timers stand still while the machine sleeps; what it says on the question is what counts
      if (deps.clock.now() >= entry.shown.expiresAt) {
        entry.late = true;
        await expire(entry);
        return "unknown";
      }
      if (typeof decision === "object") {
        const made = await makeRule(deps, entry, by, decision);
        if (made === "done") close(entry, { decision: "always", by });
        return made;
      }
      const via = isNotification ? { via: from } : {};
      const made: ApprovalEnd = { decision, by, at: deps.clock.now(), covers: entry.covers, ...via };
      return (await end(entry, made)) ? "done" : "unknown";
    },
    async ask(question, signal) {
      const { tool, caller, covers = tool } = question;
      const grantedBy = question.anew ? null : await deps.store.grantedBy(caller.sessionKey, covers);
      if (grantedBy !== null && (await deps.mayDecide(grantedBy, null))) return "session"; // an owner of then may be none now
      if (await deps.rules.allow(question, (by) => deps.mayDecide(by, null))) return "once";
      if (signal.aborted) return "expired";
      if (isFull(open, caller.sessionKey)) return "full";
      const { waitMs } = options();
      const shown = shownOf(deps, question, waitMs);
      const entry: Open = { question, shown, covers, answer: deferred(), stored: false, late: false };
      open.set(entry.shown.id, entry); // counts from now on, and cannot be answered before it is stored
      return wait(deps, { entry, waitMs, expire, forget: () => open.delete(entry.shown.id) }, signal);
    },
  };
}

function tellEnd({ log, events }: ApprovalsDeps, { shown: asked, late }: Open, { decision, by }: Ended): void {
  const { input: _input, shown: _shown, rules: _rules, ...known } = asked;
  const { id: approvalId, tool, sessionKey } = asked;
  log.info("approval ended", { approvalId, tool, sessionKey, decision, by });
  const ended = { ...known, decision, by };
  events.emit("approval", decision === "expired" ? { ...ended, say: unanswered(asked, late) } : ended);
}

/** The end of the question and the rule are one write. */
async function makeRule(deps: ApprovalsDeps, { question, shown }: Open, by: Principal, { always }: AlwaysWish) {
  const choice = shown.rules?.find(({ reach }) => reach === always);
  if (!choice || !question.ruled) return "no_such_rule";
  const rule = newRule(deps, { ...question, ruled: question.ruled }, { shown, choice }, by);
  const ended = await deps.store.endWithRule(shown.id, rule, MAX_RULES_PER_AGENT);
  if (ended === "full") return "too_many_rules";
  if (ended === "over") return "unknown";
  deps.rules.made();
  return "done";
}

interface Waiting {
  readonly entry: Open;
  readonly waitMs: number;
  /** Never rejects. */
  expire(entry: Open): Promise<void>;
  forget(): void;
}

async function wait(deps: ApprovalsDeps, waiting: Waiting, signal: AbortSignal): Promise<ApprovalAnswer> {
  const { entry, waitMs, expire, forget } = waiting;
  const { question, shown, answer } = entry;
  const { agentId, role } = question.caller;
  try {
    const { shown: _shown, rules: _rules, ...asked } = shown;
    await deps.store.put({ ...asked, agentId, role, hash: question.hash });
  } catch (error) {
    forget();
    throw error; // the gate says that nothing was run
  }
  entry.stored = true;
  const { id: approvalId, tool, sessionKey } = shown;
  deps.log.info("approval asked", { approvalId, tool, sessionKey, principal: shown.principal });
  deps.events.emit("approval", { ...shown, decision: null });
  using limit = deps.clock.deadline(waitMs, () => new Error("nobody answered in time"));
  const over = AbortSignal.any([signal, limit.signal]);
  const stop = (): void => {
    entry.late = limit.signal.aborted;
    void expire(entry);
  };
  if (over.aborted) stop();
  over.addEventListener("abort", stop, { once: true });
  try {
    return await answer.promise;
  } finally {
    over.removeEventListener("abort", stop);
  }
}

function shownOf({ clock, ids }: ApprovalsDeps, question: ApprovalQuestion, waitMs: number): PendingApproval {
  const { tool, callId, because, shown, caller, ruled } = question;
  const { sessionKey, turnId, principal, origin } = caller;
  const askedAt = clock.now();
  const expiresAt = askedAt + waitMs;
  return {
    id: ids.next("ask"),
    tool,
    callId,
    because: writeOut(because),
    input: shown,
    shown: writeOutJson(shown),
    sessionKey,
    turnId,
    principal,
    origin,
    askedAt,
    expiresAt,
    ...(ruled ? { rules: ruleChoices(ruled) } : {}),
  };
}

/** A turn that ended first says so: then nobody was too slow. */
function unanswered({ tool, askedAt, expiresAt }: PendingApproval, late: boolean): string {
  if (!late) return `${tool} was not run: its turn ended before anybody answered.`;
  const waited = durationText(expiresAt - askedAt);
  return `${tool} was not run: nobody answered within ${waited}. If it is still wanted, ask the assistant again and answer in time.`;
}

function isFull(open: ReadonlyMap<string, Open>, sessionKey: PendingApproval["sessionKey"]): boolean {
  if (open.size >= MAX_OPEN) return true;
  const here = [...open.values()].filter(({ shown }) => shown.sessionKey === sessionKey);
  return here.length >= MAX_OPEN_PER_SESSION;
}
