/** What begins by itself beside what people say: never mixed, never in a person's way. */
import { expect, test } from "bun:test";
import { entry, inbound } from "../testing/messages.ts";
import { queueWorld, words } from "../testing/worlds/queue-world.ts";

const own = (text: string) => {
  const place = entry("a", text);
  return { ...place, message: inbound(text, { address: place.message.address, origin: "cron" }) };
};

test("a wake and the words of a person are two turns, also where all that waits becomes one", async () => {
  await using world = await queueWorld({ mode: "collect" });
  await world.queue.accept(entry("a", "hello"));
  await world.queue.accept(own("wake 1"));
  await world.queue.accept(own("wake 2"));
  expect([await world.answer(), await world.answer()]).toEqual([["hello"], ["wake 1", "wake 2"]]);
});

test("a wake is not steered into the answer to a person", async () => {
  await using world = await queueWorld({ mode: "steer" });
  await world.queue.accept(entry("a", "hello"));
  const batch = await world.take();
  await world.queue.accept(own("wake"));
  const offer = new AbortController();
  const offered = batch.offered(offer.signal);
  offer.abort(new Error("nothing came"));
  expect(words({ ...batch, entries: await offered })).toEqual([]);
});

test("a wake does not interrupt the answer to a person, and a person does interrupt a wake", async () => {
  await using world = await queueWorld({ mode: "interrupt" });
  await world.queue.accept(entry("a", "hello"));
  const answering = await world.take();
  await world.queue.accept(own("wake"));
  expect(answering.cancelled.aborted).toBe(false);
  await world.queue.accept(entry("a", "stop that"));
  expect(answering.cancelled.aborted).toBe(true);
});
