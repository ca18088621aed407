/** How a session wants to be queued, kept with the session. */
import type { SessionKey } from "../ids.ts";
import type { QueueMode } from "../queue.ts";

export interface QueueModeStore {
  /** Null: as its channel, and the gateway, say. False: there is no such session. Reading it is part of `sessions` and of `inbox.accept`. */
  set(key: SessionKey, mode: QueueMode | null): Promise<boolean>;
}
