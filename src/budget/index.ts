/**
 * What may be spent. `decide.ts` is the pure decision, `sums.ts` what was spent in memory, `periods.ts` the days and months it is counted by,
 * `messages.ts` what people are told. Nothing here knows who asks: flow, automation and delegation are introduced to it by the wiring.
 */
export { openBudget } from "./budget.ts";
