/** `pi-gw approvals`: which calls wait for the owner, answering one from a terminal, and the rules that were made of answers. */
import { writeOutJson } from "../../kit/marks/written-out.ts";
import { visible } from "../../observe/index.ts";
import { printAnswer, printList } from "../ask-gateway.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "../read-value.ts";
import type { CliWorld, CommonFlags } from "../world.ts";

const MS_PER_MINUTE = 60_000;
const MS_PER_DAY = 24 * 60 * MS_PER_MINUTE;
const ISO_DAY_CHARS = 10;

export function approvalsList(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printList(world, flags, "/api/approvals", {
    line: (approval) => approvalText(world, approval),
    none: "No tool call waits for approval.",
  });
}

export interface DecideFlags extends CommonFlags {
  /** How far `always` goes. */
  readonly rule?: string;
}

export function approvalsDecide(world: CliWorld, id: string, decision: string, flags: DecideFlags): Promise<number> {
  const path = `/api/approvals/${encodeURIComponent(id)}`;
  const body = { decision, ...(flags.rule === undefined ? {} : { rule: flags.rule }) };
  return printAnswer(world, flags, { method: "POST", path, body }, (answer) => visible(textOf(answer["decision"])));
}

export function approvalsRules(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printList(world, flags, "/api/approval-rules", {
    line: (rule) => ruleText(world, rule),
    none: "There are no approval rules.",
  });
}

export function approvalsForget(world: CliWorld, id: string, flags: CommonFlags): Promise<number> {
  const path = `/api/approval-rules/${encodeURIComponent(id)}`;
  return printAnswer(world, flags, { method: "DELETE", path }, () => "Removed: what it allowed asks again.");
}

/** Whole: nobody should decide on a part of it. */
function approvalText({ clock }: CliWorld, one: Fields): string {
  const minutes = Math.max(0, Math.ceil((numberOf(one["expiresAt"]) - clock.now()) / MS_PER_MINUTE));
  const facts = [one["tool"], "for", one["principal"], "in", one["sessionKey"]].map(textOf).join(" ");
  const head = `${textOf(one["id"])}  ${facts}, because ${textOf(one["because"])} (${minutes} min left)`;
  const rules = listOf(one["rules"]).map(recordOf);
  const always = rules.map(({ reach, says }) => visible(`always --rule ${textOf(reach)}: ${textOf(says)}`));
  return [visible(head), writeOutJson(one["input"]), ...always, ""].join("\n");
}

function ruleText({ clock }: CliWorld, rule: Fields): string {
  const [id, says, person, agent, by] = ["id", "says", "principal", "agentId", "madeBy"].map((name) =>
    textOf(rule[name]),
  );
  const uses = numberOf(rule["uses"]);
  const used = uses === 0 ? "never used" : `used ${uses} times, last on ${day(rule["lastUsedAt"])}`;
  const days = Math.max(0, Math.ceil((numberOf(rule["expiresAt"]) - clock.now()) / MS_PER_DAY));
  const facts = `made by ${by} on ${day(rule["madeAt"])}, ${used}, days left: ${days}`;
  const head = `${id}  ${says}, for ${person} with the agent ${agent}; ${facts}`;
  return rule["reach"] === "call" ? `${visible(head)}\n${visible(textOf(rule["shown"]))}` : visible(head);
}

function day(at: unknown): string {
  return new Date(numberOf(at)).toISOString().slice(0, ISO_DAY_CHARS);
}
