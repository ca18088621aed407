import { describe, expect, test } from "bun:test";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";
import { openWs } from "../../testing/http/ws-client.ts";
import { createFrameRate, FRAME_BURST, FRAMES_PER_SECOND, MAX_REFUSED_FRAMES } from "./frame-rate.ts";

const kinds = (rate: ReturnType<typeof createFrameRate>, count: number) => {
  const counts = { take: 0, refuse: 0, close: 0 };
  for (let at = 0; at < count; at++) counts[rate.next().kind]++;
  return counts;
};

describe("the rate of frames on one socket", () => {
  test("takes a burst, then as many a second as it says", async () => {
    const clock = createFakeClock();
    const rate = createFrameRate(clock);
    expect(kinds(rate, FRAME_BURST)).toEqual({ take: FRAME_BURST, refuse: 0, close: 0 });
    expect(rate.next()).toEqual({ kind: "refuse", retryAfterMs: 10 });
    await clock.advance(10);
    expect(rate.next().kind).toBe("take");
    await clock.advance(1_000);
    expect(kinds(rate, FRAMES_PER_SECOND + 5)).toEqual({ take: FRAMES_PER_SECOND, refuse: 5, close: 0 });
    await clock.advance(3_600_000);
    expect(kinds(rate, FRAME_BURST + 1)).toEqual({ take: FRAME_BURST, refuse: 1, close: 0 });
  });

  test("never refuses a client that keeps to it", async () => {
    const clock = createFakeClock();
    const rate = createFrameRate(clock);
    for (let at = 0; at < 5_000; at++) {
      expect(rate.next().kind).toBe("take");
      await clock.advance(1_000 / FRAMES_PER_SECOND);
    }
  });
});

test("a client that is refused now and then is never closed for it: the count begins again with every frame that is taken", async () => {
  const clock = createFakeClock();
  const rate = createFrameRate(clock);
  kinds(rate, FRAME_BURST);
  const counts = { take: 0, refuse: 0, close: 0 };
  for (let at = 0; at < MAX_REFUSED_FRAMES + 2; at++) {
    counts[rate.next().kind]++;
    await clock.advance(1_000 / FRAMES_PER_SECOND);
    counts[rate.next().kind]++;
  }
  expect(counts).toEqual({ take: MAX_REFUSED_FRAMES + 2, refuse: MAX_REFUSED_FRAMES + 2, close: 0 });
});

test("a socket that sends far too many frames is refused with a time to come back, then closed, and others are not", async () => {
  await using world = startHttpWorld();
  using flood = await openWs(world);
  using other = await openWs(world);
  const answers: string[] = [];
  const oneTooMany = Promise.withResolvers<string>();
  flood.socket.addEventListener("message", ({ data }) => {
    const { ok, error } = JSON.parse(String(data)) as { ok: boolean; error?: { code: string; retryAfterMs: number } };
    answers.push(ok ? "ok" : `${error?.code} ${error?.retryAfterMs}`);
    if (answers.length > FRAME_BURST + MAX_REFUSED_FRAMES) oneTooMany.resolve("it goes on answering");
  });
  const frame = JSON.stringify({ id: "a", method: "nothing", params: {} });
  for (let at = 0; at < FRAME_BURST + MAX_REFUSED_FRAMES + 50_000; at++) flood.socket.send(frame);
  expect(await Promise.race([flood.closed, oneTooMany.promise])).toBe(1008);
  expect(answers.filter((answer) => answer === "queue_full 10")).toHaveLength(MAX_REFUSED_FRAMES);
  expect(answers).toHaveLength(FRAME_BURST + MAX_REFUSED_FRAMES);
  expect(await other.ask("status", {})).toMatchObject({ version: "0.0.0" });
});
