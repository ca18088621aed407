/** Parts that another gateway has to send, because it has their platform. */
import { expect, test } from "bun:test";
import type { InstanceId } from "../contracts/ids.ts";
import { outboxWorld } from "../testing/worlds/outbox-world.ts";
import { whoDelivers } from "./who-delivers.ts";

const ME = "gateway_1" as InstanceId;
const OTHER = "gateway_2" as InstanceId;

test.each([
  ["that another gateway holds is sent there", OTHER, { kind: "there", node: OTHER }],
  [
    "that this gateway holds waits here until it is open",
    ME,
    { kind: "here", because: expect.stringContaining("this") },
  ],
  ["that nobody holds waits here", null, { kind: "here", because: expect.stringContaining("nobody") }],
] as const)("a part for a platform %s", (_, holder, expected) =>
  expect(whoDelivers({ me: ME, holder })).toMatchObject(expected),
);

test("parts that cannot be sent here are handed to the gateway that has their platform, in order, and it is told", async () => {
  await using world = await outboxWorld({ repeat: "risky" }, () => ({}));
  const other = await world.openSecond();
  world.ready = false;
  world.holder = other.node;
  await world.reply("a", ["one", "two"]);
  await world.reply("b", ["three"]);
  await world.drained();
  expect((await other.pending(10)).map(({ id }) => id)).toEqual(["turn_1:0", "turn_1:1", "turn_2:0"]);
  expect(new Set(world.handedTo)).toEqual(new Set([other.node]));
  world.ready = true;
  await world.clock.advance(5_000);
  expect([world.texts(), world.outbox.stats()]).toEqual([[], { pending: 0, dead: 0, ambiguous: 0 }]);
});

test("a part whose platform has moved while it waited for another try is handed over with its attempts", async () => {
  await using world = await outboxWorld({ repeat: "risky" }, () => {
    throw new Error("503");
  });
  const other = await world.openSecond();
  await world.reply("a", ["one"]);
  await world.clock.advance(100);
  world.ready = false;
  world.holder = other.node;
  await world.drained();
  expect(await other.pending(10)).toMatchObject([{ id: "turn_1:0", state: "pending", attempts: 1 }]);
});

test.each(["this gateway", "a gateway that is gone"])("parts of a platform that %s holds wait here", async (holder) => {
  await using world = await outboxWorld({ repeat: "risky" }, () => ({}));
  world.holder = holder === "this gateway" ? world.me : ("gateway_gone" as InstanceId);
  world.ready = false;
  await world.reply("a", ["one"]);
  await world.clock.advance(3_000);
  expect([world.outbox.stats().pending, world.handedTo]).toEqual([1, []]);
  world.ready = true;
  await world.drained();
  expect(world.texts()).toEqual(["one"]);
});

test("a part that can be sent here is sent here, whoever holds the platform", async () => {
  await using world = await outboxWorld({ repeat: "risky" }, () => ({}));
  world.holder = (await world.openSecond()).node;
  await world.reply("a", ["one"]);
  await world.drained();
  expect([world.texts(), world.handedTo]).toEqual([["one"], []]);
});
