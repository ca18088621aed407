/** Commands that need an agent: alone like commands, taken and stopped like talk, also after a crash. */
import { expect, test } from "bun:test";
import type { SessionKey } from "../contracts/ids.ts";
import type { Batch } from "../contracts/queue.ts";
import type { Store } from "../contracts/store.ts";
import { systemClock } from "../kit/clock.ts";
import { systemIds } from "../kit/ids.ts";
import { entry } from "../testing/messages.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { nextBatch, nextCommand } from "../testing/worlds/queue-world.ts";
import { createQueue } from "./index.ts";
import type { WorkKindOf } from "./recovery.ts";

const SETTINGS = {
  maxPerSession: 50,
  maxTotal: 50,
  collectMs: 1,
  maxOverflow: 10,
  ttlMs: 10 ** 15,
  channels: {},
  mode: "collect" as const,
};
const kindOf: WorkKindOf = ({ message: { text } }) => {
  if (text === "/stop") return "stop";
  if (text.startsWith("/compact")) return "errand";
  return text.startsWith("/") ? "command" : "talk";
};
const queueOn = (store: Store) =>
  createQueue({ clock: systemClock, ids: systemIds, log: recordingLog(), store, workKind: kindOf }, () => SETTINGS);
const textsOf = (batch: Batch) => batch.entries.map(({ message }) => message.text);
const finish = (batch: Batch) =>
  batch.finish({
    outcome: "done",
    reply: [],
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    model: "",
    settledBytes: 0,
  });

test("an errand is taken with talk and never with commands, in its place and joined with nothing", async () => {
  await using world = await realStore(systemClock);
  const queue = queueOn(world.store);
  for (const text of ["one", "two", "/compact", "three", "four"]) await queue.accept(entry("a", text));
  await queue.accept(entry("b", "/status"));
  expect(textsOf(await nextCommand(queue))).toEqual(["/status"]);
  const taken: (readonly string[])[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const batch = await nextBatch(queue);
    taken.push(textsOf(batch));
    await finish(batch);
  }
  expect(taken).toEqual([["one", "two"], ["/compact"], ["three", "four"]]);
});

test("an errand can be stopped while it runs, and one that a crash interrupted after that does not begin again", async () => {
  await using world = await realStore(systemClock);
  const first = queueOn(world.store);
  await first.accept(entry("a", "/compact"));
  const running = await nextBatch(first);
  await first.accept(entry("a", "/stop"));
  expect(running.cancelled.reason).toBe("stopped");
  const second = queueOn(await world.reopen());
  await second.recover();
  const again = await nextBatch(second);
  expect([textsOf(again), again.attempt, again.cancelled.aborted]).toEqual([["/compact"], 2, true]);
});

test("a turn is told what was chosen for its session", async () => {
  await using world = await realStore(systemClock);
  const queue = queueOn(world.store);
  await queue.accept(entry("a", "hello"));
  const key = "agent:default:webchat:dm:a" as SessionKey;
  await world.store.sessions.configure(key, { model: "fake/two", thinking: "high" });
  expect((await nextBatch(queue)).settings).toEqual({ model: "fake/two", thinking: "high" });
});
