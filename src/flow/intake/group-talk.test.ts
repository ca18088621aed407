/** What is kept of a group that does not speak to the gateway: nothing unless the settings say so, and never more or longer. */
import { describe, expect, test } from "bun:test";
import type { GroupContextSettings } from "../../contracts/channels/access.ts";
import type { Arrival } from "../../contracts/channels/platform.ts";
import type { Principal, TurnId } from "../../contracts/ids.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { createGroupTalk } from "./group-talk.ts";

const HERE = { channel: "telegram", account: "main", chat: "-100" };
const turn = (name: string) => name as TurnId;
const MINUTE_MS = 60_000;

function world(first: Partial<GroupContextSettings> = {}) {
  const clock = createFakeClock();
  const settings = { messages: 3, minutes: 10, chars: 1_000, ...first };
  const asked: unknown[] = [];
  const talk = createGroupTalk({ clock }, (where) => {
    asked.push(where);
    return settings;
  });
  let count = 0;
  const say = (text: string, more: Partial<Arrival> = {}) =>
    talk.note({
      address: HERE,
      scope: "group",
      mentioned: false,
      kind: "message",
      sender: { principal: "telegram:user:5" as Principal, name: "Eve" },
      said: { eventId: `e${++count}`, text, at: clock.now() },
      ...more,
    });
  const heard = (turnId: string, address = HERE) => talk.tell({ address }, turn(turnId)).map(({ text }) => text);
  return { clock, settings, asked, talk, say, heard };
}

test("groups: each is judged by the settings of its own chat and place, when it speaks and when it is told", () => {
  const w = world();
  w.say("one", { place: "lounge" });
  w.heard("t1");
  expect(w.asked.length).toBeGreaterThan(2);
  for (const where of w.asked) expect(where).toEqual({ address: HERE, place: "lounge" });
});

describe("talk of a group without a mention", () => {
  test("is told to the next turn with its authors, oldest first, and again only when that turn is retried", () => {
    const w = world();
    w.say("one");
    w.say("two");
    expect(w.talk.tell({ address: HERE }, turn("t1"))).toEqual([
      { author: { id: "telegram:user:5", name: "Eve" }, text: "one" },
      { author: { id: "telegram:user:5", name: "Eve" }, text: "two" },
    ]);
    w.say("three");
    expect(w.heard("t1")).toEqual(["one", "two", "three"]);
    w.say("four");
    expect([w.heard("t2"), w.heard("t2"), w.heard("t3")]).toEqual([["four"], ["four"], []]);
  });

  test("is bounded by count, by characters with the newest first, and in the length of each message", () => {
    const w = world({ chars: 1_500 });
    for (const text of ["one", "two", "three", "four"]) w.say(text);
    expect(w.heard("t1")).toEqual(["two", "three", "four"]);
    w.say("y".repeat(5_000));
    w.say("z".repeat(600));
    expect(w.heard("t2").map((text) => text.length)).toEqual([600]);
    w.say("y".repeat(5_000));
    expect(w.heard("t3").map((text) => text.length)).toEqual([1_000]);
  });

  test("is forgotten when it is older than the setting, by the clock of the platform, in every group", async () => {
    const w = world();
    const other = { ...HERE, chat: "-200" };
    w.say("long ago", { said: { eventId: "old", text: "long ago", at: w.clock.now() - 11 * MINUTE_MS } });
    w.say("now");
    w.say("elsewhere", { address: other });
    expect(w.heard("t1", other)).toEqual(["elsewhere"]);
    await w.clock.advance(10 * MINUTE_MS + 1);
    expect([w.heard("t2"), w.heard("t1", other)]).toEqual([[], []]);
  });

  test("is not kept where the setting is 0, and what was kept is gone when it becomes 0", () => {
    const off = world({ messages: 0 });
    off.say("one");
    off.settings.messages = 3;
    expect(off.heard("t1")).toEqual([]);
    const on = world();
    on.say("one");
    on.settings.messages = 0;
    expect(on.heard("t1")).toEqual([]);
    on.settings.messages = 3;
    expect(on.heard("t1")).toEqual([]);
  });

  test("is neither an edit, nor a press, nor a direct message, nor empty, nor the same message twice, nor of another topic", () => {
    const w = world();
    w.say("edited", { kind: "edit" });
    w.say("pressed", { kind: "action" });
    w.say("alone", { scope: "dm" });
    w.say("  ");
    w.say("in a topic", { address: { ...HERE, thread: "7" } as typeof HERE });
    const said = { eventId: "same", text: "once", at: w.clock.now() };
    w.say("", { said });
    w.say("", { said });
    expect(w.heard("t1")).toEqual(["once"]);
  });

  test.each([
    ["channel", { ...HERE, channel: "discord" }],
    ["account", { ...HERE, account: "second" }],
    ["chat", { ...HERE, chat: "-200" }],
  ])("is not told to a group of the same number on another %s", (_what, address) => {
    const w = world();
    w.say("here");
    expect([w.heard("t1", address), w.heard("t1")]).toEqual([[], ["here"]]);
  });

  test("is told in the order in which it was said, in whatever order it came", () => {
    const w = world();
    const at = w.clock.now();
    w.say("", { said: { eventId: "b", text: "second", at: at - 1_000 } });
    w.say("", { said: { eventId: "a", text: "first", at: at - 2_000 } });
    expect(w.heard("t1")).toEqual(["first", "second"]);
  });

  test("that did not fit is not told to the turn after that either", () => {
    const w = world({ chars: 10 });
    w.say("x".repeat(8));
    w.say("y".repeat(8));
    expect([w.heard("t1"), w.heard("t2")]).toEqual([["y".repeat(8)], []]);
  });

  test("is told up to the last character and the last moment that the settings allow", async () => {
    const w = world({ chars: 10 });
    w.say("x".repeat(5));
    w.say("y".repeat(5));
    await w.clock.advance(10 * MINUTE_MS);
    expect(w.heard("t1")).toEqual(["x".repeat(5), "y".repeat(5)]);
  });

  test("leaves nothing of a group when its last words are too old: nobody asks for the settings of that group again", async () => {
    const w = world();
    w.say("elsewhere", { address: { ...HERE, chat: "-200" } });
    await w.clock.advance(10 * MINUTE_MS + 1);
    w.say("now");
    w.asked.length = 0;
    w.say("and now");
    expect(w.heard("t1")).toEqual(["now", "and now"]);
    expect(w.asked.length).toBeGreaterThan(1);
    for (const where of w.asked) expect(where).toEqual({ address: HERE, place: undefined });
  });

  test("is kept of a thousand groups, and of the one that was silent for the longest time no more", () => {
    const settings = { messages: 1, minutes: 10, chars: 100 };
    const clock = createFakeClock();
    const talk = createGroupTalk({ clock }, () => settings);
    const address = (chat: number) => ({ channel: "telegram", account: "main", chat: String(chat) });
    const say = (chat: number, text = "hello") =>
      talk.note({
        address: address(chat),
        scope: "group",
        mentioned: false,
        kind: "message",
        sender: { principal: "telegram:user:5" as Principal, name: "Eve" },
        said: { eventId: `${chat} ${text}`, text, at: clock.now() },
      });
    for (let chat = 0; chat < 1_000; chat++) say(chat);
    say(0, "again");
    say(1_000);
    const told = [0, 1, 2, 1_000].map((chat) => talk.tell({ address: address(chat) }, turn("t1")).length);
    expect(told).toEqual([1, 0, 1, 1]);
  });
});
