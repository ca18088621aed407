/** What running turns have spent so far, until it is in the usage ledger: a limit holds in the middle of a turn too. In memory alone. */
import { UNATTENDED } from "../contracts/budget.ts";
import type { Spent } from "../contracts/store/usage.ts";
import type { Amount, Scope } from "./decide.ts";

interface UnderWay {
  add(spent: Spent): void;
  /** The turn with this id is in the ledger, or is over. The part of it that is written by itself (`turn:1`) counts as the turn. */
  settle(id: string): void;
  amount(scope: Scope): Amount;
}

export function createUnderWay(): UnderWay {
  const turns = new Map<string, { readonly first: Spent; usd: number; tokens: number }>();
  return {
    add(spent) {
      const turn = turns.get(spent.id) ?? { first: spent, usd: 0, tokens: 0 };
      turn.usd += spent.usage.costUsd;
      turn.tokens += spent.usage.inputTokens + spent.usage.outputTokens;
      turns.set(spent.id, turn);
    },
    settle: (id) => void turns.delete(id.split(":", 1)[0] ?? id),
    amount(scope) {
      let [usd, tokens] = [0, 0];
      for (const { first, ...spent } of turns.values()) {
        if (!isIn(first, scope)) continue;
        usd += spent.usd;
        tokens += spent.tokens;
      }
      return { usd, tokens };
    },
  };
}

function isIn({ agentId, principal, origin }: Spent, scope: Scope): boolean {
  if (scope === "all") return true;
  if (scope === "unattended") return UNATTENDED.includes(origin);
  return [`agent:${agentId}`, `principal:${principal}`, `origin:${origin}`].includes(scope);
}
