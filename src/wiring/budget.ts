/** The budget of this gateway, and the way in which its owner hears of it. */
import { openBudget } from "../budget/index.ts";
import type { Config } from "../config/index.ts";
import type { Budget } from "../contracts/budget/budget.ts";
import type { Outbox } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { TurnId } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { OPERATOR } from "../routing/index.ts";
import type { Homes } from "../schedule/index.ts";

export interface BudgetParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<Events, "emit">;
  readonly store: Pick<Store, "usage" | "places">;
  /** Built later; asked for when there is something to say. */
  outbox(): Pick<Outbox, "wake">;
  homes(): Pick<Homes, "ofOwner">;
}

export function openGatewayBudget(parts: BudgetParts, config: () => Config): Promise<Budget> {
  const { clock, log, events, store } = parts;
  const tell = async (id: string, text: string): Promise<void> => {
    const { sessionKey, agentId, to } = await parts.homes().ofOwner();
    const reply = [{ part: 0, message: { kind: "notice", text } as const }];
    const turnId = id as TurnId; // said once: the store knows this id from then on
    await store.places.say({ turnId, sessionKey, agentId, principal: OPERATOR, to, reply, at: clock.now() });
    parts.outbox().wake();
    events.emit("status", { what: "budget" });
  };
  return openBudget({ clock, log, store: store.usage, tell }, { rules: () => config().budget });
}
