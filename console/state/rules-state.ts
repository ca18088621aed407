/** Approval rules, read when somebody looks and again whenever the gateway says that they changed. */
import { effect, signal } from "@preact/signals";
import type { ApprovalRule } from "../../src/contracts/tools/approval-rule.ts";
import { readRules, removeRule } from "../net/api.ts";
import { line, view } from "./console-state.ts";
import { announced, ruleNews } from "./news.ts";
import { FAILED, firstPage, LOADING, nextPage, type Paged } from "./paged.ts";

export const rules = signal<Paged<ApprovalRule>>(LOADING);

/** Follows the gateway until it is called; for as long as somebody looks. */
export function followRules(): () => void {
  return effect(() => {
    void ruleNews.value;
    if (line.value === "open" && view.value === "inbox") void refreshRules();
  });
}

async function refreshRules(): Promise<void> {
  const answer = await readRules(null);
  if (answer.ok) rules.value = firstPage(answer.value);
  else if (rules.value.phase === "loading") rules.value = FAILED;
}

export async function moreRules(): Promise<void> {
  const answer = await readRules(rules.value.next);
  if (answer.ok) rules.value = nextPage(rules.value, answer.value);
}

/** Null when the rule is removed; otherwise why not. */
export async function forgetRule({ id, says }: ApprovalRule): Promise<string | null> {
  const answer = await removeRule(id);
  if (!answer.ok) return answer.error.message;
  announced.value = `Removed the rule “${says}”. Calls like that ask again.`;
  await refreshRules();
  return null;
}
