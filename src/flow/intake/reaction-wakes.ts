/** Reactions that begin a turn, where a channel's settings want that: one turn for a burst, and one a minute in a session. Further ones are read with the next turn. */
import { INTERNAL_PRIORITY, internalMessage } from "../../automation/index.ts";
import type { InternalReceiver } from "../../contracts/automation/internal-message.ts";
import type { ArrivedReaction } from "../../contracts/channels/platform.ts";
import type { SessionChats } from "../../contracts/channels/session-chats.ts";
import type { ChatAddress } from "../../contracts/chat.ts";
import type { Role, SessionKey } from "../../contracts/ids.ts";
import type { ReactedMessage } from "../../contracts/store/messages.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import { oneLine } from "../../kit/marks/markers.ts";

interface ReactionWakeDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly receiver: InternalReceiver;
  readonly sessionChats: Pick<SessionChats, "at">;
  /** Whether the settings of this account let reactions begin turns. */
  mayWake(address: ChatAddress): boolean;
  readonly stopping: AbortSignal;
}

export interface ReactionWakes {
  /** Of a person with access, stored. Never rejects, and waits for nothing. */
  note(kept: KeptReaction): void;
}

interface KeptReaction {
  readonly reaction: ArrivedReaction;
  readonly role: Role;
  readonly message: Pick<ReactedMessage, "id" | "sessionKey" | "added">;
}

/** Reactions of a burst that are written out; the others are part of the turn's context. */
const MAX_NAMED = 5;
export const JOIN_MS = 3_000;
export const WAKE_EVERY_MS = 60_000;
/** Sessions whose last wake is remembered. While there are more, no reaction wakes. */
const MAX_SESSIONS = 10_000;

interface Window {
  /** On the monotonic clock. */
  readonly openedAt: number;
  /** Null: the turn has begun. */
  burst: Burst | null;
}

interface Burst {
  /** The first ones; the very first is whose turn it is. */
  readonly named: KeptReaction[];
  /** How many came after those; what they were is in the store. */
  more: number;
}

export function createReactionWakes(deps: ReactionWakeDeps): ReactionWakes {
  const windows = new Map<SessionKey, Window>();

  const begin = async (sessionKey: SessionKey, window: Window): Promise<void> => {
    await deps.clock.sleep(JOIN_MS, deps.stopping);
    const { burst } = window;
    window.burst = null;
    if (burst) await wake(deps, sessionKey, burst);
  };

  return {
    note(kept) {
      const { sessionKey, added } = kept.message;
      if (added.length === 0 || !deps.mayWake(kept.reaction.address)) return;
      const now = deps.clock.elapsed();
      for (const [key, { openedAt }] of windows) {
        if (now - openedAt < WAKE_EVERY_MS) break; // the oldest come first
        windows.delete(key);
      }
      const open = windows.get(sessionKey);
      if (open?.burst) join(open.burst, kept);
      if (open) return;
      if (windows.size >= MAX_SESSIONS) return;
      const window: Window = { openedAt: now, burst: { named: [kept], more: 0 } };
      windows.set(sessionKey, window);
      begin(sessionKey, window).catch((error: unknown) => {
        if (!deps.stopping.aborted) deps.log.warn("a reaction could not begin a turn", { sessionKey, error });
      });
    },
  };
}

function join(burst: Burst, kept: KeptReaction): void {
  if (burst.named.length < MAX_NAMED) burst.named.push(kept);
  else burst.more++;
}

/** The turn is the first person's: theirs are the rights, the budget and the chat. */
async function wake(deps: ReactionWakeDeps, sessionKey: SessionKey, burst: Readonly<Burst>): Promise<void> {
  const [first] = burst.named;
  const chat = first && (await deps.sessionChats.at(sessionKey));
  if (!first || !chat || !isSameChat(chat.to, first.reaction.address)) return;
  const { sender, place } = first.reaction;
  const message = {
    ...internalMessage({
      eventId: eventIdOf(first),
      address: chat.to,
      scope: chat.scope,
      sender,
      text: burstText(burst),
      receivedAt: deps.clock.now(),
      origin: "reaction",
    }),
    ...(place === undefined ? {} : { place }),
  };
  const entry = { sessionKey, agentId: chat.agentId, role: first.role, priority: INTERNAL_PRIORITY, message };
  const receipt = await deps.receiver.put(entry, deps.stopping);
  deps.log.debug("reaction begins a turn", {
    sessionKey,
    reactions: burst.named.length + burst.more,
    receipt: receipt.kind,
  });
}

/** The same for an update that the platform brings twice, also after a restart. */
function eventIdOf({ reaction, message }: KeptReaction): string {
  const { address, messageId, sender, updateId = "" } = reaction;
  return ["reaction", address.chat, messageId, sender.principal, message.added.join(" "), updateId].join("/");
}

function burstText({ named, more }: Readonly<Burst>): string {
  const sentences = named.map(({ reaction: { sender }, message: { id, added } }) => {
    const who = oneLine(sender.name) || sender.principal;
    return `${who} reacted ${oneLine(added.join(" "))} to your message ${id}.`;
  });
  return `(${[...sentences, ...(more > 0 ? [`${more} more reactions came.`] : [])].join(" ")})`;
}

function isSameChat(one: ChatAddress, other: ChatAddress): boolean {
  return one.channel === other.channel && one.account === other.account && one.chat === other.chat;
}
