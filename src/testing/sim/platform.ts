/** Platforms that take, refuse, limit, lose and hang, and remember what really arrived. They outlive every gateway that talks to them. */
import { type Channel, SendError, type SendReceipt } from "../../contracts/channel.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Chance } from "./chance.ts";
import type { SimChannel } from "./options.ts";
import { type Mortal, never, type World } from "./world.ts";

interface PlatformDeps {
  readonly world: World;
  readonly life: Mortal;
  readonly clock: Clock;
}

export interface SimChannels {
  readonly channels: ReadonlyMap<string, Channel>;
  /** The process is gone: what it had sent off may still arrive. */
  cut(): void;
}

interface Chat {
  sending: boolean;
  limitedUntil: number;
}

export function createSimChannels(deps: PlatformDeps): SimChannels {
  const chats = new Map<string, Chat>();
  const underway = new Map<OutboxRow, { readonly dice: Chance; readonly begunAt: number }>();
  const chance = deps.world.chance.fork(`platform ${deps.life.number}`);

  const channelOf = (about: SimChannel): Channel => ({
    id: about.id,
    canRefuse: about.canRefuse,
    repeat: about.repeat,
    ...(about.dedupeMs === undefined ? {} : { dedupeMs: about.dedupeMs }),
    ...(about.whenLost === undefined ? {} : { whenLost: about.whenLost }),
    ready: () => deps.world.calm || !chance.hits(about.notReady),
    health: () => ({ ok: true, detail: "" }),
    async send(row, signal) {
      if (!deps.life.alive) return never();
      const chat = chatOf(chats, row);
      checkSend(deps, row, chat);
      chat.sending = true;
      const dice = chance.fork(`${row.id} ${deps.clock.now()}`);
      const begunAt = deps.clock.now();
      deps.world.facts.sendsOf(row.id).firstBegunAt ??= begunAt;
      underway.set(row, { dice, begunAt });
      try {
        return await send(deps, { row, about, chat, dice, begunAt, arrived: () => underway.delete(row) }, signal);
      } finally {
        chat.sending = false;
        underway.delete(row);
      }
    },
  });

  return {
    channels: new Map(deps.world.options.channels.map((about) => [about.id, channelOf(about)])),
    cut() {
      for (const [row, { dice, begunAt }] of underway) if (dice.hits(0.5)) arrive(deps.world, row, begunAt);
    },
  };
}

function chatOf(chats: Map<string, Chat>, { to }: OutboxRow): Chat {
  const key = `${to.channel} ${to.chat}`;
  const chat = chats.get(key) ?? { sending: false, limitedUntil: 0 };
  chats.set(key, chat);
  return chat;
}

function checkSend({ world, clock }: PlatformDeps, row: OutboxRow, chat: Chat): void {
  if (chat.sending) world.facts.wrong(`${row.id} is sent beside another part of its chat`);
  if (clock.now() < chat.limitedUntil) world.facts.wrong(`${row.id} is sent before its chat may be written to again`);
  const stored = world.disk.db
    .query<{ state: string; ended_at: number | null }, [string]>("select state, ended_at from outbox where id = ?")
    .get(row.id);
  if (!stored) world.facts.wrong(`${row.id} is sent and not stored`);
  if (stored?.ended_at !== null) world.facts.wrong(`${row.id} is sent after it has ended`);
  const channel = world.options.channels.find(({ id }) => id === row.to.channel);
  if (channel?.repeat !== "safe" && stored?.state !== "sending")
    world.facts.wrong(`${row.id} is sent without a note that it is being sent`);
}

interface Sending {
  readonly row: OutboxRow;
  readonly about: SimChannel;
  readonly chat: Chat;
  readonly dice: Chance;
  readonly begunAt: number;
  /** It is there: the death of the sender does not change that. */
  arrived(): void;
}

async function send({ world, life, clock }: PlatformDeps, sending: Sending, signal: AbortSignal): Promise<SendReceipt> {
  const { row, about, chat, dice } = sending;
  const { facts } = world;
  const sends = facts.sendsOf(row.id);
  const rolled = world.calm ? "ok" : roll(about, dice);
  const doubtful = (because: string): SendError => {
    sends.doubtful++;
    facts.note(`send of ${row.id}: ${because}`);
    return new SendError("lost", because);
  };
  const waits = (ms: number): Promise<boolean> =>
    clock.sleep(ms, signal).then(
      () => true,
      () => false,
    );
  if (!(await waits(dice.between(1, 80)))) throw doubtful("stopped");
  if (rolled === "retry") throw new SendError("retry", "nothing was sent");
  if (rolled === "limited") {
    const retryAfterMs = dice.between(1, 5_000);
    chat.limitedUntil = clock.now() + retryAfterMs;
    throw new SendError("limited", "too much", { retryAfterMs });
  }
  if (rolled === "permanent") {
    sends.permanent++;
    throw new SendError("permanent", "no such chat");
  }
  if (rolled === "ok" || dice.hits(0.5)) arrive(world, row, sending.begunAt);
  sending.arrived();
  if (rolled === "lost") throw doubtful("answer lost");
  if (rolled === "hangs") {
    await waits(24 * 60 * 60 * 1_000);
    throw doubtful("no answer");
  }
  if (!world.calm && dice.hits(world.options.crashes)) {
    life.die(`after ${row.id} arrived`);
    return never();
  }
  return { providerId: `p-${row.id}` };
}

function roll(about: SimChannel, dice: Chance): "ok" | "retry" | "limited" | "permanent" | "lost" | "hangs" {
  if (dice.hits(about.retry)) return "retry";
  if (dice.hits(about.limited)) return "limited";
  if (dice.hits(about.permanent)) return "permanent";
  if (dice.hits(about.lost)) return "lost";
  return dice.hits(about.hangs) ? "hangs" : "ok";
}

/** A platform that drops repeats goes by when they were sent: how long they travel is no secret to it. */
function arrive({ facts, options }: World, row: OutboxRow, begunAt: number): void {
  const sends = facts.sendsOf(row.id);
  const channel = options.channels.find(({ id }) => id === row.to.channel);
  const forgetsAt = (sends.firstBegunAt ?? begunAt) + (channel?.dedupeMs ?? Infinity);
  const dropped = sends.arrived > 0 && channel?.repeat !== "risky" && begunAt < forgetsAt;
  sends.arrived++;
  if (!dropped) sends.shown++;
  facts.arrivals.push({ id: row.id, chat: `${row.to.channel} ${row.to.chat}`, text: row.message.text });
  facts.note(`arrived ${row.id}`);
}
