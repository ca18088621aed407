/** Pauses that Telegram asks for in a chat: kept to the millisecond, and forgotten when they are over. */
import { describe, expect, test } from "bun:test";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { keptPerRound } from "../../../testing/memory-growth.ts";
import { createChatCooldowns } from "./chat-cooldowns.ts";
import { Fault } from "./faults.ts";

const limited = (retryAfterMs: number) => new Fault({ kind: "limited", retryAfterMs });

describe("the pause of a Telegram chat", () => {
  test("lasts as long as Telegram says, for that chat alone", async () => {
    const clock = createFakeClock();
    const { leftMs, note } = createChatCooldowns({ clock });
    const error = limited(3_000);
    expect(note("1", error)).toBe(error);
    note("2", new Error("no limit"));
    await clock.advance(2_999);
    expect([leftMs("1"), leftMs("2")]).toEqual([1, 0]);
    await clock.advance(1);
    expect(leftMs("1")).toBe(0);
  });

  test("is forgotten when its chat is asked about after its end", async () => {
    const clock = createFakeClock();
    const { leftMs, note } = createChatCooldowns({ clock });
    const round = async (number: number): Promise<void> => {
      const chat = `chat ${number}`;
      note(chat, limited(1));
      await clock.advance(1);
      leftMs(chat);
    };
    expect(await keptPerRound(round)).toEqual({});
  });

  test("is the first to be forgotten when ten thousand others are asked for after it; a pause that is asked for again takes no room", () => {
    const { leftMs, note } = createChatCooldowns({ clock: createFakeClock() });
    for (const chat of ["first", "second"]) note(chat, limited(60_000));
    for (let number = 2; number < 10_000; number++) note(`chat ${number}`, limited(60_000));
    expect([leftMs("first"), leftMs("second")]).toEqual([60_000, 60_000]);
    note("second", limited(50_000));
    expect([leftMs("first"), leftMs("second")]).toEqual([60_000, 50_000]);
    note("one more", limited(60_000));
    expect([leftMs("first"), leftMs("second"), leftMs("one more")]).toEqual([0, 50_000, 60_000]);
  });

  test("is forgotten before one that still lasts when room is needed, and without room being needed nothing is", async () => {
    const clock = createFakeClock();
    const { leftMs, note } = createChatCooldowns({ clock });
    note("long", limited(60_000));
    for (let number = 1; number < 10_000; number++) note(`chat ${number}`, limited(1_000));
    await clock.advance(1_000);
    note("one more", limited(60_000));
    expect([leftMs("long"), leftMs("one more")]).toEqual([59_000, 60_000]);
  });
});
