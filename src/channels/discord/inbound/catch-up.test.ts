/** How often Discord is asked for what was said while the gateway was away, and when it is asked no more. */
import { expect, test } from "bun:test";
import { DiscordAPIError, RateLimitError } from "@discordjs/rest";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { advanceUntil } from "../../../testing/wait-for.ts";
import { snowflakeAt } from "../settings.ts";
import { catchUp } from "./catch-up.ts";
import type { SaidMessage } from "./translate.ts";

/** `answers`: what Discord says, one call after the other. */
async function caughtUp(answers: (() => readonly { readonly id: string }[])[]) {
  const clock = createFakeClock();
  const startedAt = clock.elapsed();
  const asked: number[] = [];
  const taken: string[] = [];
  const forgotten: string[] = [];
  const getMessages = async () => {
    asked.push(clock.elapsed() - startedAt);
    return answers[asked.length - 1]?.() ?? [];
  };
  const api = { channels: { getMessages } } as unknown as Parameters<typeof catchUp>[0]["api"];
  const seen = {
    last: async () => snowflakeAt(clock.now()),
    async forget(channel: string) {
      await new Promise((resolve) => setImmediate(resolve)); // as a disk does
      forgotten.push(channel);
    },
  };
  const take = async ({ id }: SaidMessage) => void taken.push(id);
  let isOver = false;
  const signal = new AbortController().signal;
  void catchUp({ clock, log: recordingLog(), api, seen }, { id: "1", guild: null }, take, signal).then(() => {
    known = [...forgotten]; // what is forgotten at its end
    isOver = true;
  });
  let known: readonly string[] = [];
  await advanceUntil({ clock, stepMs: 500 }, "the end of catching up", () => isOver);
  return { asked, taken, forgotten: known };
}

const limited = (retryAfter: number) => (): never => {
  throw new RateLimitError({ retryAfter } as never);
};
const lost = (): never => {
  throw new Error("no answer");
};
const gone = (): never => {
  throw new DiscordAPIError({ code: 50001, message: "no" }, 50001, 403, "GET", "https://d.example", {});
};
const said = (...ids: readonly string[]) => ids.map((id) => ({ id }));

test("the pause that Discord asks for is kept, whether it is longer or shorter than our own", async () => {
  const found = () => said("101", "100");
  const { asked, taken } = await caughtUp([limited(30_000), limited(500), lost, found]);
  expect(asked).toEqual([0, 30_000, 30_500, 34_500]);
  expect(taken).toEqual(["100", "101"]);
});

test("a channel that may not be read any more is forgotten, and asked for once", async () => {
  expect(await caughtUp([gone])).toEqual({ asked: [0], taken: [], forgotten: ["1"] });
});

test("a channel of which nothing was ever read is not asked for, and nothing is wrong with that", async () => {
  const getMessages = () => Promise.reject(new Error("nobody asks"));
  const api = { channels: { getMessages } } as unknown as Parameters<typeof catchUp>[0]["api"];
  const log = recordingLog();
  const seen = { last: async () => null, forget: async () => undefined };
  const take = () => Promise.reject(new Error("nothing is taken"));
  const { signal } = new AbortController();
  await catchUp({ clock: createFakeClock(), log, api, seen }, { id: "1", guild: null }, take, signal);
  expect(log.lines).toEqual([]);
});
