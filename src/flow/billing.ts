/** A turn as something that is paid for: on whose account it goes, what is written into the usage ledger, and how it ends when there is no money left. */
import { type Budget, type BudgetVerdict, type BudgetWork, UNATTENDED } from "../contracts/budget.ts";
import type { AgentLease } from "../contracts/agent.ts";
import type { Usage } from "../contracts/chat.ts";
import type { Batch } from "../contracts/queue.ts";
import type { Spent, UsageOrigin } from "../contracts/store/usage.ts";
import { type EndWithoutSize, failure, NOTHING_USED } from "./ending/turn-ending.ts";

type Paid = Pick<Batch, "agentId" | "entries">;

/** Messages of people and internal messages are never in one turn, so the first message speaks for all. */
function workOf({ agentId, entries }: Paid): BudgetWork | null {
  const message = entries[0]?.message;
  return message ? { agentId, principal: message.sender.principal, origin: originOf(message) } : null;
}

export function originOf({
  origin = "chat",
  scope,
  address,
}: Pick<Paid["entries"][number]["message"], "origin" | "scope" | "address">): UsageOrigin {
  if (origin !== "chat" && origin !== "reaction") return origin;
  if (scope === "group") return "group";
  return address.channel === "api" ? "api" : "chat";
}

/** Before it begins; the model door asks again before each call. Null: it may go on. */
export function refusedEnd(budget: Pick<Budget, "ask">, batch: Paid & Pick<Batch, "attempt">) {
  const work = workOf(batch);
  if (!work || batch.attempt > 1) return null;
  const verdict = budget.ask(work);
  return verdict.may ? null : spentEnd(verdict, work);
}

/** A turn that no person began leaves a record and says nothing; the owner is told once. */
function spentEnd(verdict: Extract<BudgetVerdict, { may: false }>, { origin }: BudgetWork): EndWithoutSize {
  const end = failure("budget_spent", verdict.because, { say: verdict.say });
  return UNATTENDED.includes(origin) ? { ...end, reply: [] } : end;
}

/** Usage of the last attempt alone. All other usage was recorded when it became known. */
export function billOf(
  budget: Pick<Budget, "bill">,
  batch: Paid & Pick<Batch, "turnId">,
  { own, model }: EndWithoutSize,
): Spent | undefined {
  const work = workOf(batch);
  const usage = own ?? NOTHING_USED;
  return work && !isNothing(usage) ? budget.bill(work, { id: batch.turnId, model, usage }) : undefined;
}

function isNothing({ inputTokens, outputTokens, costUsd }: Usage): boolean {
  return inputTokens + outputTokens <= 0 && costUsd <= 0;
}

/** The cost of an interrupted attempt is known only now, and its traces are gone from the session file: recorded at once. */
export async function recordLost(
  budget: Pick<Budget, "bill" | "record">,
  batch: Paid & Pick<Batch, "turnId" | "attempt">,
  { lost }: Pick<AgentLease, "lost">,
): Promise<void> {
  const work = workOf(batch);
  if (!work || isNothing(lost)) return;
  const { model = "", ...usage } = lost;
  await budget.record(budget.bill(work, { id: `${batch.turnId}:${batch.attempt}`, model, usage }));
}
