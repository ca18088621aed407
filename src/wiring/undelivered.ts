/** How an owner hears of replies that were given up and that nobody in their chat can be told about. */
import type { ChatAddress } from "../contracts/chat.ts";
import type { GivenUpPart, Outbox } from "../contracts/delivery.ts";
import type { TurnId } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import { OPERATOR } from "../routing/index.ts";
import type { Homes } from "../schedule/index.ts";

export interface UndeliveredDeps {
  readonly clock: Clock;
  readonly store: Pick<Store, "places">;
  /** Built later; asked for when there is something to say. */
  outbox(): Pick<Outbox, "wake">;
  homes(): Pick<Homes, "ofOwner">;
}

/** A chat that takes nothing fails with every reply to it: an owner is told once an hour. */
const QUIET_MS = 60 * 60 * 1_000;
const PREFIX = "undelivered-";
const HASH_CHARS = 16;

export function tellOwnerOfUndelivered(deps: UndeliveredDeps): (about: GivenUpPart) => Promise<void> {
  return async ({ part, state, because }) => {
    if (part.turnId.startsWith(PREFIX)) return; // a notice of ours: the status says that it did not arrive
    const at = deps.clock.now();
    const { sessionKey, agentId, to } = await deps.homes().ofOwner();
    const turnId = `${PREFIX}${hashOf(part.to)}-${Math.floor(at / QUIET_MS)}` as TurnId;
    const reply = [{ part: 0, message: { kind: "notice", text: undeliveredText(part.to, state, because) } as const }];
    await deps.store.places.say({ turnId, sessionKey, agentId, principal: OPERATOR, to, reply, at });
    deps.outbox().wake();
  };
}

function undeliveredText({ channel, chat }: ChatAddress, state: GivenUpPart["state"], because: string): string {
  const what = state === "dead" ? "could not be delivered" : "may not have arrived";
  return `A reply to ${channel} ${chat} ${what}: ${because}. GET /api/outbox?state=${state} lists such replies.`;
}

function hashOf({ channel, account, chat }: ChatAddress): string {
  const key = JSON.stringify([channel, account, chat]);
  return new Bun.CryptoHasher("sha256").update(key).digest("hex").slice(0, HASH_CHARS);
}
