/** Platforms that take, refuse, limit, lose and hang, and remember what really arrived. They outlive every gateway that talks to them. */
import { type Channel, SendError } from "../../src/contracts/channel.ts";
import type { OutboxRow } from "../../src/contracts/delivery.ts";
import { messageKey } from "./facts.ts";
import type { Clock } from "../../src/kit/clock.ts";
import type { Chance } from "../../src/testing/chance.ts";
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

/** The message of a part that is being sent. */
interface Underway {
  readonly message: number;
  readonly dice: Chance;
  readonly begunAt: number;
}

export function createSimChannels(deps: PlatformDeps): SimChannels {
  const chats = new Map<string, Chat>();
  const underway = new Map<OutboxRow, Underway>();
  const chance = deps.world.chance.fork(`platform ${deps.life.number}`);

  const channelOf = (about: SimChannel): Channel => ({
    id: about.id,
    canRefuse: about.canRefuse,
    repeat: about.repeat,
    ...(about.dedupeMs === undefined ? {} : { dedupeMs: about.dedupeMs }),
    ...(about.whenLost === undefined ? {} : { whenLost: about.whenLost }),
    ready: () => deps.world.calm || !chance.hits(about.notReady),
    health: () => ({ ok: true, detail: "" }),
    ...(about.maxMessages > 1 ? { messages: messagesOf(deps, about) } : {}),
    async send(row, signal) {
      if (!deps.life.alive) return never();
      const chat = chatOf(chats, row);
      checkSend(deps, row, chat);
      chat.sending = true;
      const count = countOf(about, row);
      try {
        for (let message = deps.world.facts.delivered.get(row.id) ?? 0; message < count; message++) {
          const dice = chance.fork(`${message === 0 ? row.id : messageKey(row.id, message)} ${deps.clock.now()}`);
          const begunAt = deps.clock.now();
          deps.world.facts.sendsOf(row.id, message).firstBegunAt ??= begunAt;
          underway.set(row, { message, dice, begunAt });
          const arrived = (): void => void underway.delete(row);
          await send(deps, { row, message, about, chat, dice, begunAt, arrived }, signal);
          if (message + 1 < count) await noteDelivered(deps, row, message, dice);
        }
        return { providerId: `p-${row.id}` };
      } finally {
        chat.sending = false;
        underway.delete(row);
      }
    },
  });

  return {
    channels: new Map(deps.world.options.channels.map((about) => [about.id, channelOf(about)])),
    cut() {
      for (const [row, { message, dice, begunAt }] of underway)
        if (dice.hits(0.5)) arrive(deps.world, { row, message, begunAt });
    },
  };
}

/** The same for every send of a part, as a real channel splits it. */
export function countOf({ maxMessages }: SimChannel, { id }: Pick<OutboxRow, "id">): number {
  const number = [...id].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 9_973, 7);
  return 1 + (number % maxMessages);
}

function messagesOf({ world, life }: PlatformDeps, about: SimChannel): NonNullable<Channel["messages"]> {
  const { facts } = world;
  const deliveredOf = (id: string): number => facts.delivered.get(id) ?? 0;
  return {
    delivered: async ({ id }) => (life.alive ? deliveredOf(id) : never()),
    async skip(row) {
      if (!life.alive) return never();
      const message = deliveredOf(row.id);
      if (message + 1 >= countOf(about, row)) return false;
      facts.note(`skipped ${messageKey(row.id, message)}`);
      facts.counts.skipped++;
      facts.skipped.add(messageKey(row.id, message));
      facts.delivered.set(row.id, message + 1);
      return true;
    },
  };
}

/** The channel writes down how far it came; the process may die before or after. */
async function noteDelivered(
  { world, life }: PlatformDeps,
  { id }: OutboxRow,
  message: number,
  dice: Chance,
): Promise<void> {
  const dies = !world.calm && dice.hits(world.options.crashes) ? dice.pick(["before", "after"]) : null;
  if (dies === "before") life.die(`before ${messageKey(id, message)} is noted`);
  if (!life.alive) return never();
  world.facts.delivered.set(id, message + 1);
  if (dies !== "after") return;
  life.die(`after ${messageKey(id, message)} is noted`);
  return never();
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
  const [stored] = world.database.rows<{ state: string; ended_at: number | null }>(
    "select state, ended_at from outbox where id = ?",
    row.id,
  );
  if (!stored) world.facts.wrong(`${row.id} is sent and not stored`);
  if (stored?.ended_at !== null) world.facts.wrong(`${row.id} is sent after it has ended`);
  const channel = world.options.channels.find(({ id }) => id === row.to.channel);
  if (channel?.repeat !== "safe" && stored?.state !== "sending")
    world.facts.wrong(`${row.id} is sent without a note that it is being sent`);
}

interface Sending {
  readonly row: OutboxRow;
  readonly message: number;
  readonly about: SimChannel;
  readonly chat: Chat;
  readonly dice: Chance;
  readonly begunAt: number;
  /** It is there: the death of the sender does not change that. */
  arrived(): void;
}

async function send({ world, life, clock }: PlatformDeps, sending: Sending, signal: AbortSignal): Promise<void> {
  const { row, message, about, chat, dice } = sending;
  const { facts } = world;
  const sends = facts.sendsOf(row.id, message);
  const rolled = world.calm ? "ok" : roll(about, dice);
  const doubtful = (because: string): SendError => {
    sends.doubtful++;
    facts.note(`send of ${messageKey(row.id, message)}: ${because}`);
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
  if (rolled === "ok" || dice.hits(0.5)) arrive(world, sending);
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
}

function roll(about: SimChannel, dice: Chance): "ok" | "retry" | "limited" | "permanent" | "lost" | "hangs" {
  if (dice.hits(about.retry)) return "retry";
  if (dice.hits(about.limited)) return "limited";
  if (dice.hits(about.permanent)) return "permanent";
  if (dice.hits(about.lost)) return "lost";
  return dice.hits(about.hangs) ? "hangs" : "ok";
}

/** A platform that drops repeats goes by when they were sent: how long they travel is no secret to it. */
function arrive(
  { facts, options }: World,
  { row, message, begunAt }: Pick<Sending, "row" | "message" | "begunAt">,
): void {
  const sends = facts.sendsOf(row.id, message);
  const channel = options.channels.find(({ id }) => id === row.to.channel);
  const forgetsAt = (sends.firstBegunAt ?? begunAt) + (channel?.dedupeMs ?? Infinity);
  const dropped = sends.arrived > 0 && channel?.repeat !== "risky" && begunAt < forgetsAt;
  sends.arrived++;
  if (!dropped) sends.shown++;
  const chat = `${row.to.channel} ${row.to.chat}`;
  facts.arrivals.push({ id: row.id, message, chat, text: row.message.text });
  facts.note(`arrived ${messageKey(row.id, message)}`);
}
