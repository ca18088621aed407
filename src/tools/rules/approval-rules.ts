/** Approval rules at work: looks up whether one allows a call, and makes, lists and removes them. Remembers none: each call asks the store anew. */
import type { Events } from "../../contracts/events.ts";
import type { Principal } from "../../contracts/ids.ts";
import type { ApprovalRuleStore, NewApprovalRule } from "../../contracts/store/approval-rules.ts";
import type { ApprovalRules, RuleChoice } from "../../contracts/tools/approval-rule.ts";
import type { ApprovalQuestion, PendingApproval } from "../../contracts/tools/approval.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { allows } from "./reach.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** A rule that nobody made anew for so long is asked about again. */
export const RULE_MS = 90 * DAY_MS;
/** More than a person keeps in view. */
export const MAX_RULES_PER_AGENT = 500;
/** Of what was shown, enough to know the call again in a list. */
const MAX_SHOWN_CHARS = 1_000;

interface RuleDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  readonly store: ApprovalRuleStore;
}

export interface UsableRules extends ApprovalRules {
  /** Whether a rule allows the call of this question, and whoever made that rule may still decide. Its use is on record then. */
  allow(question: ApprovalQuestion, mayDecide: (by: Principal) => Promise<boolean>): Promise<boolean>;
  /** Tells everybody who looks that there is another rule. */
  made(): void;
}

export function createApprovalRules({ clock, log, events, store }: RuleDeps): UsableRules {
  const changed = (): void => events.emit("status", { what: "rules" });
  return {
    async allow({ ruled, tool, callId, hash: callHash, caller }, mayDecide) {
      if (!ruled) return false;
      const at = clock.now();
      const { sessionKey } = caller;
      for (const rule of await store.of(ruled, at)) {
        if (!allows(rule, ruled, at) || !(await mayDecide(rule.madeBy))) continue;
        if (!(await store.use(rule.id, { at: clock.now(), callId, callHash, sessionKey }))) continue; // removed a moment ago
        log.info("call allowed by a rule", { ruleId: rule.id, tool, sessionKey });
        changed();
        return true;
      }
      return false;
    },
    list: (page) => store.list(clock.now(), page),
    async remove(id, by) {
      if (!(await store.remove(id, by, clock.now()))) return false;
      log.info("approval rule removed", { ruleId: id, by });
      changed();
      return true;
    },
    made: changed,
  };
}

/** Of an answer `always`. */
export function newRule(
  { clock, ids }: { readonly clock: Clock; readonly ids: Ids },
  { ruled, hash }: ApprovalQuestion & Required<Pick<ApprovalQuestion, "ruled">>,
  { shown, choice }: { readonly shown: PendingApproval; readonly choice: RuleChoice },
  madeBy: Principal,
): NewApprovalRule {
  const { tool, agentId, principal, origins, because } = ruled;
  const madeAt = clock.now();
  const { reach, value, says } = choice;
  return {
    id: ids.next("rule"),
    tool,
    agentId,
    principal,
    origins,
    because,
    reach,
    value,
    says,
    shown: shown.shown.length > MAX_SHOWN_CHARS ? `${shown.shown.slice(0, MAX_SHOWN_CHARS)}…` : shown.shown,
    approvalId: shown.id,
    callHash: hash,
    madeBy,
    madeAt,
    expiresAt: madeAt + RULE_MS,
  };
}
