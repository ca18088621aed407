/** Whether one agent may ask another now, and for how long: a pure decision with its reason. */
import type { DelegationRefusal } from "../../contracts/tools/delegation.ts";

interface DelegationRules {
  /** Whom the asking agent may ask. */
  readonly delegates: readonly string[];
  readonly maxDepth: number;
  readonly maxPerTurn: number;
  readonly maxTotal: number;
  readonly timeoutMs: number;
}

export interface DelegationFacts {
  readonly from: string;
  readonly to: string;
  /** Of the asking turn: 0 for one that a person began. */
  readonly depth: number;
  /** Delegations of the asking turn that run now. */
  readonly inTurn: number;
  readonly inAll: number;
  /** Time that is left to the asking turn. */
  readonly restMs: number;
  readonly askedMs: number | undefined;
}

type DelegationVerdict =
  | { readonly may: true; readonly timeoutMs: number }
  | { readonly may: false; readonly because: DelegationRefusal; readonly say: string };

/** With less than this no agent gets anywhere. */
const MIN_TIMEOUT_MS = 1_000;
/** Of what is left to the asking turn, this much stays with it, to say what came of it. */
const KEPT_SHARE = 0.1;
const MAX_KEPT_MS = 10_000;

export function mayDelegate(facts: DelegationFacts, rules: DelegationRules): DelegationVerdict {
  const { from, to, depth, inTurn, inAll, restMs } = facts;
  if (!rules.delegates.includes(to)) {
    const listed = rules.delegates.length > 0 ? `It may ask: ${rules.delegates.join(", ")}.` : "It may ask nobody.";
    return no("not_listed", `Agent ${from} may not ask "${to.slice(0, 64)}". ${listed}`);
  }
  if (depth >= rules.maxDepth)
    return no("too_deep", `This task was handed on ${depth} times already, which is the limit. Do it yourself.`);
  if (inTurn >= rules.maxPerTurn) {
    const many = inTurn === 1 ? "One task is" : `${inTurn} tasks are`;
    return no("too_many_in_turn", `${many} handed on already, which is the limit. Wait for an answer first.`);
  }
  if (inAll >= rules.maxTotal)
    return no("too_many", "Too many agents work for other agents right now. Do it yourself, or try again later.");
  const kept = Math.min(MAX_KEPT_MS, restMs * KEPT_SHARE);
  const timeoutMs = Math.floor(Math.min(facts.askedMs ?? rules.timeoutMs, rules.timeoutMs, restMs - kept));
  if (timeoutMs < MIN_TIMEOUT_MS) return no("no_time", "There is too little time left to ask anybody. Answer now.");
  return { may: true, timeoutMs };
}

function no(because: DelegationRefusal, say: string): DelegationVerdict {
  return { may: false, because, say };
}
