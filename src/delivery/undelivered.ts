/** Tells an owner of replies that were given up and that nobody in their chat can be told about. */
import type { ChatAddress } from "../contracts/chat.ts";
import type { OutboxRow, OwnerNotices, TroubledState } from "../contracts/delivery.ts";
import type { Clock } from "../kit/clock.ts";

/** A part that was given up, as an owner is told about it. */
export interface GivenUpPart {
  readonly part: OutboxRow;
  readonly state: TroubledState;
  readonly because: string;
}

interface UndeliveredDeps {
  readonly clock: Clock;
  readonly ownerNotices: OwnerNotices;
}

/** A chat that takes nothing fails with every reply to it: an owner is told once an hour. */
const QUIET_MS = 60 * 60 * 1_000;
const PREFIX = "undelivered-";
const HASH_CHARS = 16;

export function tellOwnerOfUndelivered(deps: UndeliveredDeps): (about: GivenUpPart) => Promise<void> {
  return async ({ part, state, because }) => {
    if (part.turnId.startsWith(PREFIX)) return; // a notice of ours: the status says that it did not arrive
    const hour = Math.floor(deps.clock.now() / QUIET_MS);
    await deps.ownerNotices.tell(`${PREFIX}${hashOf(part.to)}-${hour}`, undeliveredText(part.to, state, because));
  };
}

function undeliveredText({ channel, chat }: ChatAddress, state: GivenUpPart["state"], because: string): string {
  const what = state === "dead" ? "could not be delivered" : "may not have arrived";
  return `A reply to ${channel} ${chat} ${what}: ${because}. The Inbox of the web console and pi-gw outbox --state ${state} list such replies, and send them again.`;
}

function hashOf({ channel, account, chat }: ChatAddress): string {
  const key = JSON.stringify([channel, account, chat]);
  return new Bun.CryptoHasher("sha256").update(key).digest("hex").slice(0, HASH_CHARS);
}
