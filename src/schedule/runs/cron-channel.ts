/**
 * The channel that runs answer into. To send a part is to hand it on, in the way its job wants: said as it is, told to the main session, or
 * nothing. Handing on twice under one id is the same as once, so the outbox's own promises hold for it.
 */
import type { SystemEvents } from "../../contracts/automation/system-event.ts";
import { type Channel, SendError } from "../../contracts/channel.ts";
import type { Outbox, OutboxRow } from "../../contracts/delivery.ts";
import type { TurnId } from "../../contracts/ids.ts";
import type { PlaceStore } from "../../contracts/store/places.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Homes } from "./home.ts";
import { CRON_CHANNEL, HEARTBEAT, readRunAddress, type RunAddress } from "./run-address.ts";

export interface CronChannelDeps {
  readonly clock: Clock;
  readonly places: Pick<PlaceStore, "speakerOf" | "hasPosted" | "say">;
  readonly homes: Pick<Homes, "at">;
  readonly systemEvents: SystemEvents;
  readonly outbox: () => Pick<Outbox, "wake">;
}

export function createCronChannel(deps: CronChannelDeps): Channel {
  return {
    id: CRON_CHANNEL,
    canRefuse: true,
    repeat: "safe",
    async send(part, signal) {
      signal.throwIfAborted();
      const address = readRunAddress(part.to);
      if (!address) throw new SendError("permanent", "this is not the address of a run");
      const how = wayOut(part, address, part.part >= 0 && (await deps.places.hasPosted(part.turnId)));
      if (how !== "nothing") await handOn(deps, part, address, how);
      return {};
    },
    ready: () => true,
    health: () => ({ ok: true, detail: "hands on what jobs say" }),
  };
}

export type WayOut = "announce" | "direct" | "nothing";

/**
 * A failed run says nothing here: the owner is told in another way. Neither does one whose agent has sent its words by itself. What it sent,
 * and files, go as they are.
 */
export function wayOut(
  { part, outcome, message }: Pick<OutboxRow, "part" | "outcome" | "message">,
  { delivery }: Pick<RunAddress, "delivery">,
  hasPosted: boolean,
): WayOut {
  if (delivery === "silent") return "nothing";
  if (part < 0) return "direct";
  if (outcome !== "done" || message.kind === "notice" || hasPosted) return "nothing";
  return (message.attachments?.length ?? 0) > 0 ? "direct" : delivery;
}

async function handOn(
  deps: CronChannelDeps,
  part: OutboxRow,
  { jobId, home: key }: RunAddress,
  how: "announce" | "direct",
): Promise<void> {
  const speaker = await deps.places.speakerOf(part.turnId);
  const home = await deps.homes.at(key);
  if (!speaker || !home) throw new SendError("permanent", "there is nobody to hand this on to");
  const event = { id: part.id, sessionKey: home.sessionKey, source: sourceOf(jobId), text: part.message.text };
  if (how === "announce") {
    const { principal, role } = speaker;
    return deps.systemEvents.put({ ...event, kind: "news" }, { wake: { principal, role } });
  }
  await deps.places.say({
    turnId: `said-${part.id}` as TurnId,
    sessionKey: home.sessionKey,
    agentId: home.agentId,
    principal: speaker.principal,
    to: home.to,
    reply: [{ part: 0, message: part.message }],
    at: deps.clock.now(),
  });
  deps.outbox().wake();
  if (part.message.text.trim() !== "") await deps.systemEvents.put({ ...event, kind: "said" }, {});
}

function sourceOf(jobId: string): string {
  return jobId === HEARTBEAT ? "heartbeat" : `job ${jobId}`;
}
