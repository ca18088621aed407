/** Replies that a person has sent again: what their chat gets and when, which of them are refused, and that none is repeated by itself. */
import { expect, test } from "bun:test";
import { type Channel, SendError } from "../contracts/channel.ts";
import type { InstanceId, Principal } from "../contracts/ids.ts";
import { waitFor } from "../testing/wait-for.ts";
import { type Answer, type OutboxWorld, outboxWorld } from "../testing/worlds/outbox-world.ts";
import { createReplyRetries } from "./retry-reply.ts";

const RISKY = { repeat: "risky" } as const;
const HOUR_MS = 3_600_000;
const BY = "operator" as Principal;

/** As gateway.ts puts it together, beside the outbox of the world. */
function retriesOf(world: OutboxWorld, channels: readonly string[] = ["fake"]) {
  const statuses: string[] = [];
  const { retry } = createReplyRetries({
    clock: world.clock,
    events: { emit: (_event, data) => void statuses.push("what" in data ? String(data.what) : "") },
    store: world.store,
    channels: new Map(channels.map((id) => [id, { id } as Channel])),
    mayReceive: async (row) => world.mayReceive(row),
    outbox: world.outbox,
  });
  return { statuses, retry: (id: string, mayRepeat = false) => retry(id, { by: BY, mayRepeat }) };
}

/** Refuses for good, or loses its answers, until it is told to take everything. */
function moody() {
  const mood = { now: "refuses" as "refuses" | "loses" | "takes" };
  const answer: Answer = ({ message }) => {
    if (mood.now === "takes" || message.kind === "notice" || message.text.startsWith("fine")) return {};
    throw mood.now === "loses" ? new SendError("lost", "no answer") : new SendError("permanent", "403 blocked");
  };
  return { mood, answer };
}

test("a reply that was given up is sent again when somebody asks for it, and is no trouble any more", async () => {
  const { mood, answer } = moody();
  await using world = await outboxWorld(RISKY, answer);
  const { retry, statuses } = retriesOf(world);
  await world.reply("a", ["lost"]);
  await world.drained();
  expect(world.outbox.stats()).toMatchObject({ dead: 1 });
  await world.clock.advance(5 * HOUR_MS); // too old to be sent by itself
  expect(world.texts()).toEqual(["lost"]);
  mood.now = "takes";
  expect(await retry("turn_1:0")).toMatchObject({ kind: "retried", from: "dead" });
  await world.drained();
  expect(world.texts()).toEqual(["lost", "lost"]);
  expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "sent", attempts: 1, because: null });
  expect(world.outbox.stats()).toEqual({ pending: 0, dead: 0, ambiguous: 0 });
  expect(statuses).toEqual(["outbox"]);
});

test("a late reply comes at the end: after the parts of its own reply and after newer replies that wait in its chat, also after a restart", async () => {
  const { mood, answer } = moody();
  await using world = await outboxWorld(RISKY, answer);
  await world.reply("a", ["lost", "fine, the second part"]);
  await world.drained();
  world.ready = false;
  mood.now = "takes";
  await world.reply("a", ["newer"]);
  await world.reply("a", ["newest"]);
  expect(await retriesOf(world).retry("turn_1:0")).toMatchObject({ kind: "retried" });
  await world.restart();
  await world.reply("a", ["after that"]);
  world.ready = true;
  await world.drained();
  expect(world.texts().slice(1)).toEqual(["fine, the second part", "newer", "newest", "lost", "after that"]);
});

test("a reply that is refused again is given up again, with its new reason, and is tried no more by itself", async () => {
  const { answer } = moody();
  await using world = await outboxWorld(RISKY, answer);
  const { retry } = retriesOf(world);
  await world.reply("a", ["lost"]);
  await world.drained();
  expect(await retry("turn_1:0")).toMatchObject({ kind: "retried" });
  await world.drained();
  await world.clock.advance(5 * HOUR_MS);
  expect(world.texts()).toEqual(["lost", "lost"]);
  expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "dead", because: "403 blocked" });
  expect(world.outbox.stats()).toMatchObject({ dead: 1 });
});

test("a reply that waits again waits for an hour, and one that was in doubt before never ends as certainly lost", async () => {
  const { mood, answer } = moody();
  await using world = await outboxWorld(RISKY, answer);
  const { retry } = retriesOf(world);
  mood.now = "loses";
  await world.reply("a", ["doubtful"]);
  await world.drained();
  expect(world.texts()).toEqual(["doubtful", "doubtful"]); // once more, as every risky send
  expect(await retry("turn_1:0")).toEqual({ kind: "in_doubt" });
  await world.clock.advance(5 * HOUR_MS);
  world.ready = false;
  expect(await retry("turn_1:0", true)).toMatchObject({ kind: "retried", from: "ambiguous" });
  await world.clock.advance(HOUR_MS - 10_000);
  expect(world.outbox.stats()).toMatchObject({ pending: 1 });
  await world.clock.advance(20_000);
  await world.drained();
  expect((await world.rows())["turn_1:0"]).toMatchObject({
    state: "ambiguous",
    because: "it waited too long to be sent",
  });
  expect(world.texts()).toHaveLength(2);
});

test("a doubtful reply that is sent again, and arrives, has arrived", async () => {
  const { mood, answer } = moody();
  await using world = await outboxWorld(RISKY, answer);
  const { retry } = retriesOf(world);
  mood.now = "loses";
  await world.reply("a", ["doubtful"]);
  await world.drained();
  mood.now = "takes";
  await retry("turn_1:0", true);
  await world.drained();
  expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "sent" });
  const { items } = await world.store.list("ambiguous", { limit: 5 });
  expect(items).toMatchObject([{ id: "turn_1:0", retried: { from: "ambiguous", now: "sent" } }]);
});

test("a reply whose channel is gone, whose person has no access or that does not exist is left as it is", async () => {
  const { answer } = moody();
  await using world = await outboxWorld(RISKY, answer);
  await world.reply("a", ["lost"]);
  await world.drained();
  const before = await world.store.list("dead", { limit: 5 });
  expect(await retriesOf(world, []).retry("turn_1:0")).toEqual({ kind: "no_channel", channel: "fake" });
  expect(await retriesOf(world).retry("turn_9:0")).toEqual({ kind: "unknown" });
  world.mayReceive = () => false;
  const { retry, statuses } = retriesOf(world);
  expect(await retry("turn_1:0")).toEqual({ kind: "no_access" });
  await world.drained();
  expect(await world.store.list("dead", { limit: 5 })).toEqual(before);
  expect([world.texts(), statuses]).toEqual([["lost"], []]);
});

test("a reply that two people send again at the same moment is sent once", async () => {
  const { mood, answer } = moody();
  await using world = await outboxWorld(RISKY, answer);
  const { retry } = retriesOf(world);
  await world.reply("a", ["lost"]);
  await world.drained();
  mood.now = "takes";
  const kinds = (await Promise.all([retry("turn_1:0"), retry("turn_1:0")])).map(({ kind }) => kind);
  expect(kinds.toSorted()).toEqual(["not_lost", "retried"]);
  await world.drained();
  expect(world.texts()).toEqual(["lost", "lost"]);
});

test("a reply that is sent again at a gateway without its platform goes to the one that holds it", async () => {
  const { answer } = moody();
  await using world = await outboxWorld(RISKY, answer);
  await world.reply("a", ["lost"]);
  await world.drained();
  const other = await world.openSecond();
  world.ready = false;
  world.holder = other.node;
  const retried = retriesOf(world).retry("turn_1:0");
  expect(await retried).toMatchObject({ kind: "retried" });
  await waitFor("the other gateway to be told", () => world.handedTo.length > 0);
  expect(world.handedTo).toEqual([other.node satisfies InstanceId]);
  expect(await other.pending(5)).toMatchObject([{ id: "turn_1:0", retried: { from: "dead" } }]);
});
