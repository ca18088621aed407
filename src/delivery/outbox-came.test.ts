/** Parts that came from another gateway while the outbox works: they are older than what it has read, and are sent once, in order. */
import { expect, test } from "bun:test";
import type { SendReceipt } from "../contracts/channel.ts";
import type { PendingPart } from "../contracts/delivery.ts";
import { deferred } from "../kit/deferred.ts";
import { waitFor } from "../testing/wait-for.ts";
import { outboxWorld } from "../testing/worlds/outbox-world.ts";

test("parts that came are sent in the order in which they were stored, before newer ones of their chat that wait", async () => {
  await using world = await outboxWorld({ repeat: "safe" }, () => ({}));
  const hidden = new Set(["turn_1:0", "turn_2:0"]); // of another gateway, for now
  world.tamper((store) => ({
    ...store,
    pending: async (...page) => (await store.pending(...page)).filter(({ id }) => !hidden.has(id)),
  }));
  await world.reply("a", ["old"]);
  await world.reply("b", ["old of b"]);
  world.ready = false;
  await world.reply("a", ["on its way", "new"]);
  await world.clock.advance(500);
  hidden.clear();
  world.outbox.lookAgain();
  await world.clock.advance(500);
  world.ready = true;
  await world.drained();
  expect(world.texts().filter((text) => text !== "old of b")).toEqual(["on its way", "old", "new"]);
  expect(world.texts()).toHaveLength(4);
});

test("a part that another gateway was sending when it died counts as one that may have arrived", async () => {
  await using world = await outboxWorld({ repeat: "risky", whenLost: "hold" }, () => ({}));
  let hidden = true;
  world.tamper((store) => ({
    ...store,
    pending: async (...page) => (hidden ? [] : store.pending(...page)),
  }));
  await world.reply("a", ["one"]);
  const at = world.clock.now();
  const counts = { attempts: 1, lost: 0, delivered: 0, doubt: false };
  await world.store.markSending("turn_1:0", { ...counts, at, claimedUntil: at + 60_000 });
  hidden = false;
  world.outbox.lookAgain();
  await world.drained();
  expect([world.texts(), (await world.rows())["turn_1:0"]?.state]).toEqual([[], "ambiguous"]);
});

test("a part that is sent while the store is read once more is not sent again", async () => {
  const answer = deferred<SendReceipt>();
  await using world = await outboxWorld({ repeat: "safe" }, () => answer.promise);
  await world.reply("a", ["one"]);
  await waitFor("the send", () => world.texts().length === 1);
  const read = deferred<readonly PendingPart[]>();
  const asked = deferred<void>();
  world.tamper((store) => ({
    ...store,
    async pending(...page) {
      const now = await store.pending(...page);
      asked.resolve();
      await read.promise;
      return now;
    },
  }));
  world.outbox.lookAgain();
  await asked.promise;
  answer.resolve({});
  await waitFor("its end", async () => (await world.rows())["turn_1:0"]?.state === "sent");
  read.resolve([]);
  world.tamper((store) => store);
  await world.drained();
  expect(world.texts()).toEqual(["one"]);
});
