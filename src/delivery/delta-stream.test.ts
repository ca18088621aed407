import { describe, expect, test } from "bun:test";
import { silentLog } from "../kit/log.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createDeltaStream } from "./delta-stream.ts";

function fixture() {
  const clock = createFakeClock();
  const shown: string[] = [];
  const over = new AbortController();
  return {
    clock,
    shown,
    over,
    stream: createDeltaStream({ clock, log: silentLog }, 30, (text) => shown.push(text), over.signal),
  };
}

describe("streamed text", () => {
  test("shows the first piece at once and joins what follows within the gap", async () => {
    const { clock, shown, stream } = fixture();
    for (const piece of ["He", "ll", "o"]) stream.push(piece);
    expect(shown).toEqual(["He"]);
    await clock.advance(30);
    expect(shown).toEqual(["He", "llo"]);
  });

  test("is shown at once when the gap is over, without a timer", async () => {
    const { clock, shown, stream } = fixture();
    stream.push("a");
    await clock.advance(29);
    stream.push("b");
    expect([shown.length, clock.pending()]).toEqual([1, 1]);
    await clock.advance(1);
    await clock.advance(30);
    stream.push("c");
    expect([shown, clock.pending()]).toEqual([["a", "b", "c"], 0]);
  });

  test("is complete after a flush, whatever was held back", () => {
    const { shown, stream } = fixture();
    stream.push("a");
    stream.push("b");
    stream.flush();
    expect(shown.join("")).toBe("ab");
  });

  test("waits with one timer at a time, and with none when nothing is held back", async () => {
    const { clock, shown, stream } = fixture();
    for (const piece of ["a", "b", "c", "d"]) stream.push(piece);
    expect(clock.pending()).toBe(1);
    await clock.advance(30);
    expect([shown, clock.pending()]).toEqual([["a", "bcd"], 0]);
    await clock.advance(29);
    stream.push("e");
    expect(shown).toEqual(["a", "bcd"]);
    await clock.advance(1);
    expect(shown).toEqual(["a", "bcd", "e"]);
  });

  test("that was flushed meanwhile is not shown twice, and no empty piece is shown", async () => {
    const { clock, shown, stream } = fixture();
    stream.push("a");
    stream.push("b");
    stream.flush();
    await clock.advance(100);
    stream.flush();
    expect(shown).toEqual(["a", "b"]);
  });

  test("shows nothing after the turn is over, and waits no longer", async () => {
    const { clock, shown, over, stream } = fixture();
    stream.push("a");
    stream.push("b");
    over.abort();
    expect(clock.pending()).toBe(0);
    await clock.advance(100);
    expect(shown).toEqual(["a"]);
  });
});
