/** A real model door for tests and measurements of other parts: with the keys of their configuration, and no limit on what is spent. */
import type { Config, Environment } from "../config/index.ts";
import type { Events } from "../contracts/events.ts";
import type { ModelDoor } from "../contracts/model-door.ts";
import { type Clock, systemClock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { type CallBudget, createModelDoor } from "../model-door/index.ts";

export const FREE_CALLS: CallBudget = { refusal: () => null, spent: () => undefined };

export function testModelDoor(
  deps: { readonly log: Log; readonly events: Pick<Events, "emit">; readonly clock?: Clock },
  { models, environment }: { readonly models: Config["models"]; readonly environment: Environment },
  budget: CallBudget = FREE_CALLS,
): ModelDoor {
  const { log, events, clock = systemClock } = deps;
  return createModelDoor({ clock, log, events, budget, hide: () => undefined }, { models: () => models, environment });
}
