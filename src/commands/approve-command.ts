/** `/approve`: an owner sees in a direct chat which calls wait, and answers one, with a rule if they say so. Refuses to show calls to a group. */
import type { Command } from "../contracts/command.ts";
import { RULE_REACHES } from "../contracts/tools/approval-rule.ts";
import type { Approvals, ApprovalWish, PendingApproval } from "../contracts/tools/approval.ts";
import { bullets } from "./replies.ts";
import { OWNERS } from "./roles.ts";

const MAX_LISTED = 10;
/** Whoever decides reads all of it, or reads it elsewhere. */
const MAX_SHOWN_CHARS = 1_500;
const PLAIN = ["once", "session", "deny"] as const;
const USAGE =
  "Write `/approve ID once`, `session`, `always` or `deny`. `/approve ID always` holds for exactly this call; `always program` and `always folder` go further where that is offered.";

type Asked = Pick<Approvals, "pending" | "decide">;

export function approveCommand(approvals: Asked): Command {
  return {
    name: "approve",
    usage: "[id] [answer]",
    help: "Answer a tool call that waits for approval: once, session, always or deny; without an id, which wait",
    roles: OWNERS,
    async run(args, { message }) {
      if (message.scope !== "dm")
        return "Write this to me directly: what waits for approval is not for a group to read.";
      if (args === "") return waiting(approvals.pending());
      const [id = "", ...words] = args.split(/\s+/);
      const wish = wishOf(words.map((word) => word.toLowerCase()));
      if (wish === null) return USAGE;
      return SAID[await approvals.decide(id, wish, message.sender.principal, message)](wish);
    },
  };
}

const SAID: Readonly<Record<Awaited<ReturnType<Approvals["decide"]>>, (wish: ApprovalWish) => string>> = {
  done: (wish) => {
    if (typeof wish === "object")
      return "Allowed, with a rule. `pi-gw approvals rules` and the web console list the rules.";
    return wish === "deny" ? "Denied." : wish === "once" ? "Allowed once." : "Allowed for this conversation.";
  },
  unknown: () =>
    "No such call waits: it was answered, it ran out of time, or its turn has ended. `/approve` lists what waits.",
  not_allowed: () => "Only owners answer approvals.",
  no_such_rule: () => "No such rule can be made of this call. `/approve` says which can.",
  too_many_rules: () => "This agent has as many approval rules as it may have. Remove one, or allow the call once.",
};

/** Null: it is no answer. */
function wishOf([answer = "", reach, ...more]: readonly string[]): ApprovalWish | null {
  if (more.length > 0) return null;
  if (answer === "always") {
    const always = RULE_REACHES.find((one) => one === (reach ?? "call"));
    return always ? { always } : null;
  }
  return reach === undefined ? (PLAIN.find((one) => one === answer) ?? null) : null;
}

function waiting(pending: readonly PendingApproval[]): string {
  if (pending.length === 0) return "No tool call waits for approval.";
  const lines = pending.slice(0, MAX_LISTED).map(lineOf);
  const more = pending.length > MAX_LISTED ? `\n\nThere are ${pending.length - MAX_LISTED} more.` : "";
  return `${bullets(lines)}${more}\n\n${USAGE}`;
}

function lineOf({ id, tool, principal, because, shown, rules = [] }: PendingApproval): string {
  const call =
    shown.length <= MAX_SHOWN_CHARS ? shown : "(too long for a chat: read it in the web console before you answer)";
  const wider = rules
    .filter(({ reach }) => reach !== "call")
    .map(({ reach, says }) => `\n\`always ${reach}\`: ${says}`);
  return `\`${id}\` ${tool} for ${principal}, because ${because}:\n${call}${wider.join("")}`;
}
