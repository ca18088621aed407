/** The outcome of a run, from the end of its turn. Pure. */
import type { RunOutcome } from "./run-start.ts";
import { ERRORS } from "../../contracts/errors.ts";
import type { TurnResult } from "../../contracts/store/turns.ts";

export function outcomeOf(
  { outcome, errorCode }: Pick<TurnResult, "outcome" | "errorCode">,
  timedOut: boolean,
): RunOutcome {
  if (outcome === "done") return { kind: "ran" };
  if (timedOut) return { kind: "failed", because: "It took longer than the job allows.", again: true };
  if (outcome === "aborted") return { kind: "failed", because: "It was stopped.", again: false };
  if (errorCode === "budget_spent") return { kind: "skipped", because: "A budget is used up." };
  const known = Object.entries(ERRORS).find(([code]) => code === errorCode)?.[1];
  return { kind: "failed", because: known?.say ?? "It did not end well.", again: known?.retry === "later" };
}
