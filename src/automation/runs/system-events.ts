/** Puts something into a session without a person having said it: stored first, and only then is the session woken. */
import type { InternalReceiver } from "../../contracts/automation/internal-message.ts";
import type { SystemEventStore, SystemEvents } from "../../contracts/automation/system-event.ts";
import { SendError } from "../../contracts/channel.ts";
import type { Clock } from "../../kit/clock.ts";
import type { SessionChats } from "../../contracts/channels/session-chats.ts";
import { INTERNAL_PRIORITY, internalMessage } from "./internal-message.ts";

const EVENT_TTL_MS = 24 * 3_600_000;

interface SystemEventsDeps {
  readonly clock: Clock;
  readonly store: SystemEventStore;
  readonly sessionChats: Pick<SessionChats, "at">;
  readonly receiver: InternalReceiver;
  readonly stopping: AbortSignal;
}

/** Shown in the transcript in the place of a message that somebody wrote. */
const WAKE_TEXTS = {
  cron: "(A scheduled job has something for this conversation.)",
  webhook: "(Another program has something for this conversation.)",
} as const;

export function createSystemEvents(deps: SystemEventsDeps): SystemEvents {
  return {
    async put(event, { wake }) {
      const now = deps.clock.now();
      await deps.store.add({ ...event, createdAt: now, expiresAt: now + EVENT_TTL_MS });
      if (!wake) return;
      const chat = await deps.sessionChats.at(event.sessionKey);
      if (!chat) throw new SendError("permanent", "this conversation has no chat");
      const { origin = "cron" } = wake;
      const message = internalMessage({
        eventId: `wake:${event.id}`,
        address: chat.to,
        scope: chat.scope,
        sender: { principal: wake.principal, name: event.source },
        text: wake.text ?? WAKE_TEXTS[origin],
        receivedAt: now,
        origin,
      });
      const { sessionKey, agentId } = chat;
      const entry = { sessionKey, agentId, role: wake.role, priority: INTERNAL_PRIORITY, message };
      const receipt = await deps.receiver.put(entry, deps.stopping);
      if (receipt.kind === "refused") throw new SendError("retry", receipt.because);
    },
  };
}
