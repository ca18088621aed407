/** Status: what people are shown about the running gateway, from every group that has something to say. */
import type { Reloader } from "../reload.ts";
import { createStatus, type Status } from "../status.ts";
import type { Core } from "./core.ts";
import type { Groups } from "./groups.ts";

export function openStatus(core: Core, reloader: Reloader, parts: Groups): Status {
  const { clock, store, channels, secrets, options, stray } = core;
  const { people, agents, messages, automation } = parts;
  return createStatus(
    {
      clock,
      store,
      channels,
      stray,
      reloader,
      automation,
      mask: secrets.mask,
      pool: agents.pool,
      queue: messages.queue,
      outbox: messages.outbox,
      budget: people.budget,
    },
    options,
  );
}
