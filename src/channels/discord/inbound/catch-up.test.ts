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

const HOUR_MS = 3_600_000;
const PAGE = 100;

interface Asked {
  readonly after: string;
  readonly limit: number;
}

/** A channel that was last read `agoMs` before now. `answer`: one page. */
function reading(agoMs: number, answer: (asked: Asked, page: number) => readonly { readonly id: string }[]) {
  const clock = createFakeClock();
  const log = recordingLog();
  const stop = new AbortController();
  const asked: Asked[] = [];
  const forgotten: string[] = [];
  const taken: string[] = [];
  const state = { take: (_id: string): void => undefined };
  const getMessages = async (_channel: string, about: Asked) => {
    asked.push(about);
    return answer(about, asked.length);
  };
  const api = { channels: { getMessages } } as unknown as Parameters<typeof catchUp>[0]["api"];
  const seen = {
    last: async () => snowflakeAt(clock.now() - agoMs),
    forget: async (channel: string) => void forgotten.push(channel),
  };
  const take = async ({ id }: SaidMessage): Promise<void> => {
    taken.push(id);
    state.take(id);
  };
  const run = () => catchUp({ clock, log, api, seen }, { id: "1", guild: null }, take, stop.signal);
  const words = () => log.lines.map((line) => line.words);
  return { clock, stop, asked, forgotten, taken, state, run, words };
}

/** The `n` messages after this one, as Discord lists them: newest first. */
const pageAfter = ({ after }: Asked, n: number) =>
  Array.from({ length: n }, (_, at) => ({ id: String(BigInt(after) + BigInt(n - at)) }));

test.each([
  ["a minute ago is read from half a minute before that on", 60_000, 90_000],
  ["three days ago is read from a day ago on", 72 * HOUR_MS, 24 * HOUR_MS],
])("a channel that was read %s", async (_when, agoMs, fromMs) => {
  const at = reading(agoMs, () => []);
  await at.run();
  expect([at.asked, at.words()]).toEqual([[{ after: snowflakeAt(at.clock.now() - fromMs), limit: PAGE }], []]);
});

test.each([
  [PAGE - 1, 1],
  [PAGE, 2],
])("a page of %d messages is followed by another one behind its newest, or not: %d pages", async (size, pages) => {
  const at = reading(60_000, (asked, page) => (page === 1 ? pageAfter(asked, size) : []));
  await at.run();
  expect([at.asked.length, at.taken.length, at.words()]).toEqual([pages, size, []]);
  expect(at.asked[1]?.after).toBe(pages === 2 ? at.taken.at(-1) : undefined);
});

test("five pages are read of a channel, and that there is more is in the log", async () => {
  const at = reading(60_000, (asked) => pageAfter(asked, PAGE));
  await at.run();
  expect([at.asked.length, new Set(at.taken).size, at.words()]).toEqual([
    5,
    5 * PAGE,
    ["more was said while away than is fetched"],
  ]);
  expect(at.taken).toEqual(at.taken.toSorted());
});

test("a channel that closes reads no further page, and says nothing of what is missing", async () => {
  const at = reading(60_000, (asked) => pageAfter(asked, PAGE));
  at.state.take = () => at.stop.abort(new Error("closing"));
  await at.run();
  expect([at.asked.length, at.words()]).toEqual([1, []]);
});

test("a channel that closes in a pause is asked no more, and whatever Discord answers after that forgets nothing", async () => {
  const paused = reading(60_000, lost);
  const run = paused.run();
  await paused.clock.advance(500);
  paused.stop.abort(new Error("closing"));
  await run;
  expect([paused.asked.length, paused.words(), paused.clock.pending()]).toEqual([1, [], 0]);
  const late = reading(60_000, () => {
    late.stop.abort(new Error("closing"));
    return gone();
  });
  await late.run();
  expect([late.forgotten, late.words()]).toEqual([[], []]);
});

test("pauses between tries double up to a minute, and after the twelfth the log says that messages are missing", async () => {
  const times: number[] = [];
  const at = reading(60_000, () => {
    times.push(at.clock.elapsed());
    return lost();
  });
  const run = at.run();
  await at.clock.advance(HOUR_MS);
  await run;
  const pauses = times.slice(1).map((time, before) => (time - (times[before] ?? 0)) / 1_000);
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]);
  expect(at.words()).toEqual(["missed messages could not be fetched"]);
});
