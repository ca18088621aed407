/** What an outbox asks others for, where a test is about something else: no other gateway is there, everybody may receive, ids are those of the platform, no owner listens. */
import type { OutboxDeps } from "../../delivery/index.ts";

export const QUIET_OUTBOX: Pick<OutboxDeps, "isHeld" | "mayReceive" | "platformIds" | "tellOwner" | "others"> = {
  isHeld: () => true,
  mayReceive: async () => true,
  platformIds: async (id) => [id],
  tellOwner: async () => undefined,
  others: null,
};
