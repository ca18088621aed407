/** Two gateways on one store: the outbox leaves a part alone that another gateway has claimed. */
import { expect, test } from "bun:test";
import type { SendReceipt } from "../contracts/channel.ts";
import { type Deferred, deferred } from "../kit/deferred.ts";
import { waitFor } from "../testing/wait-for.ts";
import { type OutboxWorld, outboxWorld } from "../testing/worlds/outbox-world.ts";

const RISKY = { repeat: "risky" } as const;
const COUNTS = { attempts: 1, lost: 0, delivered: 0, doubt: false };

const leftToAnother = ({ log }: OutboxWorld): unknown[] =>
  log.lines.filter(({ words }) => words.includes("another gateway")).map(({ fields }) => fields.outboxId);

test("a part that another gateway has claimed is not sent, and the next part of its chat is", async () => {
  await using world = await outboxWorld(RISKY, () => ({}));
  const other = await world.openSecond();
  world.ready = false;
  await world.reply("a", ["one", "two"]);
  const at = world.clock.now();
  expect(await other.markSending("turn_1:0", { ...COUNTS, at, claimedUntil: at + 60_000 })).toBe(true);
  world.ready = true;
  await world.drained();
  expect(world.texts()).toEqual(["two"]);
  expect(leftToAnother(world)).toEqual(["turn_1:0"]);
  expect(world.outbox.stats()).toEqual({ pending: 0, dead: 0, ambiguous: 0 });
  expect(await other.settle("turn_1:0", { state: "sent", because: null }, at)).toBe(true);
});

test.each([
  ["arrived", (answer: Deferred<SendReceipt>) => answer.resolve({})],
  ["failed", (answer: Deferred<SendReceipt>) => answer.reject(new Error("503"))],
] as const)("a send that %s is not recorded after another gateway took the part over", async (_name, end) => {
  const answer = deferred<SendReceipt>();
  await using world = await outboxWorld(RISKY, () => answer.promise);
  await world.reply("a", ["one"]);
  await waitFor("the send", () => world.texts().length === 1);
  await world.openSecond();
  end(answer);
  await world.drained();
  expect(world.texts()).toEqual(["one"]);
  expect(leftToAnother(world)).toEqual(["turn_1:0"]);
  expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "sending", attempts: 1, lost: 0, because: null });
});

test("a claim is for two minutes: a send that takes one, and as much again to record its end", async () => {
  await using world = await outboxWorld(RISKY, () => ({}));
  const claims: number[] = [];
  world.tamper((store) => ({
    ...store,
    markSending(id, note) {
      claims.push(note.claimedUntil - note.at);
      return store.markSending(id, note);
    },
  }));
  await world.reply("a", ["one"]);
  await world.drained();
  expect(claims).toEqual([120_000]);
});

test("a claim holds for as long as a send may take, so that no second gateway sends the same part meanwhile", async () => {
  const answer = deferred<SendReceipt>();
  await using world = await outboxWorld(RISKY, () => answer.promise);
  const other = await world.openSecond();
  await world.reply("a", ["one"]);
  await waitFor("the send", () => world.texts().length === 1);
  await world.clock.advance(59_999); // a send is given up after a minute
  const at = world.clock.now();
  expect(await other.markSending("turn_1:0", { ...COUNTS, at, claimedUntil: at + 60_000 })).toBe(false);
  answer.resolve({});
  await world.drained();
  expect([world.texts(), leftToAnother(world)]).toEqual([["one"], []]);
});

test.each(["risky", "safe"] as const)(
  "a gateway that froze sends nothing on a %s channel until it is sure that no other one has taken over",
  async (repeat) => {
    await using world = await outboxWorld({ repeat }, () => ({}));
    world.held = false;
    await world.reply("a", ["one"]);
    await world.clock.advance(5_000);
    expect([world.texts(), (await world.rows())["turn_1:0"]]).toEqual([[], expect.objectContaining({ attempts: 0 })]);
    world.held = true;
    await world.drained();
    expect([world.texts(), (await world.rows())["turn_1:0"]]).toEqual([
      ["one"],
      expect.objectContaining({ state: "sent", attempts: 1 }),
    ]);
  },
);

test("a part that no send was announced of is left as it is while the gateway is not sure of its hold", async () => {
  await using world = await outboxWorld({ repeat: "safe" }, () => ({}));
  world.held = false;
  await world.reply("a", ["one"]);
  await world.clock.advance(5_000);
  expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "pending", because: null });
});

test("a gateway that froze after it had announced a send takes the announcement back, and the try does not count", async () => {
  await using world = await outboxWorld(RISKY, () => ({}));
  world.tamper((store) => ({
    ...store,
    async markSending(id, note) {
      world.held = false;
      return store.markSending(id, note);
    },
  }));
  await world.reply("a", ["one"]);
  await world.clock.advance(5_000);
  expect([world.texts(), (await world.rows())["turn_1:0"]]).toEqual([
    [],
    expect.objectContaining({ state: "pending", attempts: 0 }),
  ]);
  world.tamper((store) => store);
  world.held = true;
  await world.drained();
  expect(world.texts()).toEqual(["one"]);
});
