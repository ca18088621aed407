import { describe, expect, test } from "bun:test";
import type { Channel } from "../contracts/channel.ts";
import type { OutboxRow } from "../contracts/delivery.ts";
import type { InboxId, TurnId } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import { systemClock } from "../kit/clock.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { entry } from "../testing/messages.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { startOutbox } from "./outbox.ts";

const never = new AbortController().signal;
let turns = 0;

/** Ends a turn whose reply has these parts. */
async function reply(store: Store, chat: string, texts: readonly string[], channel = "webchat"): Promise<void> {
  const turnId = `turn_${++turns}` as TurnId;
  const id = `msg_${turns}` as InboxId;
  const said = entry(chat, "hello");
  const { sessionKey, agentId } = said;
  await store.inbox.accept({ ...said, id });
  const { attempt } = await store.turns.begin({ turnId, sessionKey, agentId, inboxIds: [id], at: 1 });
  const to = { channel, account: "default", chat };
  const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  const parts = texts.map((text, part) => ({ part, message: { kind: "reply" as const, text } }));
  await store.turns.finish({
    turnId,
    attempt,
    outcome: "done",
    reply: parts,
    to,
    usage,
    model: "m",
    settledBytes: 0,
    at: turns,
  });
}

function channelThat(send: (row: OutboxRow) => void): ReadonlyMap<string, Channel> {
  const channel: Channel = { id: "webchat", send: async (row) => send(row), health: () => ({ ok: true, detail: "" }) };
  return new Map([["webchat", channel]]);
}

describe("the outbox", () => {
  test("sends every part once, in order, and remembers that it did", async () => {
    await using world = await realStore(systemClock);
    await reply(world.store, "a", ["one", "two"]);
    const sent: string[] = [];
    const channels = channelThat((row) => sent.push(row.message.text));
    const deps = { clock: systemClock, log: recordingLog(), store: world.store.outbox, channels };
    {
      await using outbox = startOutbox(deps);
      await outbox.drained(never);
      await reply(world.store, "b", ["three"]);
      outbox.wake();
      await outbox.drained(never);
    }
    await using again = startOutbox(deps);
    await again.drained(never);
    expect(sent).toEqual(["one", "two", "three"]);
  });

  test("keeps trying a chat that does not take its message, in order, without holding up another chat", async () => {
    const clock = createFakeClock();
    await using world = await realStore(clock);
    await reply(world.store, "down", ["first", "second"]);
    await reply(world.store, "up", ["hello"]);
    const sent: string[] = [];
    let broken = true;
    const tried = Promise.withResolvers<void>();
    const channels = channelThat((row) => {
      if (row.to.chat === "down" && broken) throw new Error("503");
      sent.push(row.message.text);
      if (row.to.chat === "up") tried.resolve();
    });
    await using outbox = startOutbox({ clock, log: recordingLog(), store: world.store.outbox, channels });
    await tried.promise;
    while (clock.pending() === 0) await new Promise(setImmediate); // until it waits before the next try
    expect(sent).toEqual(["hello"]);
    broken = false;
    const drained = outbox.drained(never);
    await clock.advance(1_000);
    await drained;
    expect(sent).toEqual(["hello", "first", "second"]);
  });

  test("gives up on a reply for a channel that does not exist, says so, and goes on", async () => {
    await using world = await realStore(systemClock);
    await reply(world.store, "a", ["lost"], "carrier-pigeon");
    await reply(world.store, "b", ["fine"]);
    const sent: string[] = [];
    const log = recordingLog();
    const channels = channelThat((row) => sent.push(row.message.text));
    await using outbox = startOutbox({ clock: systemClock, log, store: world.store.outbox, channels });
    await outbox.drained(never);
    expect(sent).toEqual(["fine"]);
    expect(log.lines.map(({ words }) => words)).toContain("reply has no channel to go to");
  });
});
