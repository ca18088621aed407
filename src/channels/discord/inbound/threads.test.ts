/** Which channel of Discord is a thread of which other one, for each thing that Discord tells about threads. */
import { expect, test } from "bun:test";
import { createPlaces } from "./threads.ts";

const thread = (id: string, type = 11) => ({ id, type, parent_id: "c1" });
const inThread = { chat: "c1", thread: "t1" };

test.each([
  ["the threads of a server that the bot sees", "GUILD_CREATE", { threads: [thread("t0"), thread("t1")] }, inThread],
  [
    "the threads of a channel that it may see now",
    "THREAD_LIST_SYNC",
    { threads: [thread("t0"), thread("t1")] },
    inThread,
  ],
  ["a new thread", "THREAD_CREATE", thread("t1"), inThread],
  ["a thread that was changed, or came back", "THREAD_UPDATE", thread("t1"), inThread],
  ["a thread of announcements", "THREAD_CREATE", thread("t1", 10), inThread],
  ["a private thread", "THREAD_CREATE", thread("t1", 12), inThread],
  ["a channel in a category", "THREAD_UPDATE", thread("t1", 0), { chat: "t1" }],
  ["a thread of no channel", "THREAD_CREATE", { id: "t1", type: 11, parent_id: null }, { chat: "t1" }],
  ["a server without threads", "GUILD_CREATE", {}, { chat: "t1" }],
  ["something else", "CHANNEL_UPDATE", thread("t1"), { chat: "t1" }],
] as const)("discord places: %s is where it belongs from then on", (_what, t, d, expected) => {
  const places = createPlaces();
  places.learn({ t, d } as never);
  expect(places.address("t1")).toEqual({ channel: "discord", account: "default", ...expected });
});

test("discord places: a thread that was moved or deleted is not where it was", () => {
  const places = createPlaces();
  const learn = (t: string, d: object): void => places.learn({ t, d } as never);
  learn("THREAD_CREATE", thread("t1"));
  learn("THREAD_CREATE", thread("t2"));
  learn("THREAD_UPDATE", { ...thread("t1"), parent_id: "c2" });
  expect([places.address("t1").chat, places.address("t2").chat]).toEqual(["c2", "c1"]);
  learn("THREAD_DELETE", { id: "t1" });
  expect([places.address("t1").chat, places.address("t2").chat]).toEqual(["t1", "c1"]);
});
