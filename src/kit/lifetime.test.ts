import { describe, expect, test } from "bun:test";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { Lifetime } from "./lifetime.ts";

describe("a lifetime", () => {
  test("stops its parts in reverse order, all of them even when one fails, and reports that one", async () => {
    const log = recordingLog();
    const life = new Lifetime({ clock: createFakeClock(), log });
    const stopped: string[] = [];
    life.onStop("first", () => void stopped.push("first"));
    life.onStop("broken", () => {
      throw new Error("no");
    });
    life.onStop("last", () => void stopped.push("last"));
    await life.stop("test");
    expect(stopped).toEqual(["last", "first"]);
    expect(log.lines.filter((line) => line.level === "error").map((line) => line.fields.part)).toEqual(["broken"]);
  });

  test("goes on after the grace time when a part does not stop", async () => {
    const clock = createFakeClock();
    const life = new Lifetime({ clock, log: recordingLog() });
    let reached = false;
    life.onStop("first", () => {
      reached = true;
    });
    life.own("stuck", { [Symbol.asyncDispose]: () => new Promise<void>(() => undefined) }, 5_000);
    const stopped = life.stop("test");
    await clock.advance(5_000);
    await stopped;
    expect(reached).toBe(true);
  });

  test("asks for the grace time of a part when it stops it, so that a changed setting counts", async () => {
    const clock = createFakeClock();
    const life = new Lifetime({ clock, log: recordingLog() });
    let graceMs = 5_000;
    let over = false;
    life.own("stuck", { [Symbol.asyncDispose]: () => new Promise<void>(() => undefined) }, () => graceMs);
    graceMs = 20_000;
    const stopped = life.stop("test").then(() => (over = true));
    await clock.advance(19_999);
    expect(over).toBe(false);
    await clock.advance(1);
    await stopped;
  });

  test("stops once, however often it is asked", async () => {
    const life = new Lifetime({ clock: createFakeClock(), log: recordingLog() });
    let stops = 0;
    life.onStop("part", () => void stops++);
    await Promise.all([life.stop("one"), life.stop("two")]);
    expect(stops).toBe(1);
  });
});
