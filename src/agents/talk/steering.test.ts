/** The narrow moments around the end of a run, which a real pi cannot be made to show at will. */
import { describe, expect, test } from "bun:test";
import { systemClock } from "../../kit/clock.ts";
import { deferred, orAborted } from "../../kit/deferred.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import type { Answer } from "../process/wire.ts";
import { createSteering } from "./steering.ts";

const OK: Answer = { ok: true, data: {} };
const more = { text: "more", images: [] };

function world(answers: { steer?: Promise<Answer>; clear_queue?: Promise<Answer> } = {}, clock = systemClock) {
  const asked: string[] = [];
  const accepted = deferred<void>();
  const request = (command: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Answer> => {
    const type = command.type as "steer" | "clear_queue";
    asked.push(type);
    return orAborted(answers[type] ?? Promise.resolve(OK), signal);
  };
  return { asked, accepted, steering: createSteering({ clock }, { request }, accepted.promise) };
}

describe("a message on its way into a prompt", () => {
  test("is not sent before the prompt was accepted, and is taken when pi begins it, not when pi has it", async () => {
    const { asked, accepted, steering } = world();
    let outcome: string | null = null;
    const steered = steering.steer(more).then((how) => (outcome = how));
    await new Promise(setImmediate);
    expect(asked).toEqual([]);
    accepted.resolve();
    await new Promise(setImmediate);
    expect([steering.userSaid(), asked, outcome]).toEqual([false, ["steer"], null]); // the prompt itself
    expect([steering.userSaid(), await steered]).toEqual([true, "taken"]);
  });

  test("that pi has and has not begun when the run ends is too late, and is cleared out after pi has answered", async () => {
    const answer = deferred<Answer>();
    const { asked, accepted, steering } = world({ steer: answer.promise });
    accepted.resolve();
    const steered = steering.steer(more);
    await new Promise(setImmediate);
    steering.close();
    const emptied = steering.emptied();
    await new Promise(setImmediate);
    expect(asked).toEqual(["steer"]);
    answer.resolve(OK);
    expect([await steered, await emptied, asked]).toEqual(["too_late", true, ["steer", "clear_queue"]]);
  });

  test("leaves a process behind that nobody may use when pi does not say that its queue is empty", async () => {
    const clock = createFakeClock();
    const { accepted, steering } = world({ clear_queue: new Promise(() => undefined) }, clock);
    accepted.resolve();
    const steered = steering.steer(more);
    await new Promise(setImmediate);
    steering.close();
    const emptied = steering.emptied();
    await new Promise(setImmediate);
    await clock.advance(5_000);
    expect([await steered, await emptied]).toEqual(["too_late", false]);
  });

  test("that pi refuses is too late at once, and so is one after the end", async () => {
    const { asked, accepted, steering } = world({ steer: Promise.resolve({ ok: false, error: "no" }) });
    accepted.resolve();
    expect(await steering.steer(more)).toBe("too_late");
    steering.close();
    expect([await steering.steer(more), await steering.emptied(), asked]).toEqual(["too_late", true, ["steer"]]);
  });
});
