/** Tells an owner what concerns the gateway itself, in the chat where they were active last. Stored first, and delivered like any reply. */
import type { OwnerNotices } from "../contracts/delivery.ts";
import type { SessionChats } from "../contracts/channels/session-chats.ts";
import type { Principal, TurnId } from "../contracts/ids.ts";
import type { SessionChatStore } from "../contracts/store/session-chats.ts";
import type { Clock } from "../kit/clock.ts";

interface OwnerNoticesDeps {
  readonly clock: Clock;
  readonly sessionChatStore: Pick<SessionChatStore, "say">;
  readonly sessionChats: Pick<SessionChats, "ofOwner">;
  /** In whose name the gateway speaks. */
  readonly principal: Principal;
  /** Something waits in the outbox. */
  wakeOutbox(): void;
}

export function createOwnerNotices(deps: OwnerNoticesDeps): OwnerNotices {
  return {
    async tell(id, text) {
      const { sessionKey, agentId, to } = await deps.sessionChats.ofOwner();
      const reply = [{ part: 0, message: { kind: "notice", text } as const }];
      const turnId = id as TurnId; // the store takes an id once
      const at = deps.clock.now();
      await deps.sessionChatStore.say({ turnId, sessionKey, agentId, principal: deps.principal, to, reply, at });
      deps.wakeOutbox();
    },
  };
}
