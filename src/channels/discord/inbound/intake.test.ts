/** The intake of Discord beside a platform that a test plays by hand: order, limits, signals, trouble with the disk, and a stop. */
import { describe, expect, test } from "bun:test";
import { DiscordAPIError } from "@discordjs/rest";
import type { Receipt } from "../../../contracts/channel.ts";
import type { Arrival, ArrivingFile, InboundFiles } from "../../../contracts/channels/platform.ts";
import { type AccountState, createLanes } from "../../kit/index.ts";
import { orAborted } from "../../../kit/deferred.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { keptPerRound } from "../../../testing/memory-growth.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { waitForEnd } from "../../../testing/wait-for.ts";
import { snowflakeAt } from "../settings.ts";
import { type IntakeDeps, startIntake } from "./intake.ts";
import { catchUp } from "./catch-up.ts";
import { createPlaces } from "./threads.ts";
import { reactionOf } from "./reactions.ts";
import { createSeen } from "./seen.ts";
import type { SaidMessage } from "./translate.ts";

const ME = "900000000000000001";
const FRIEND = { id: "900000000000000002", username: "frida", global_name: "Frida", discriminator: "0", avatar: null };
const SILENT = new Promise<never>(() => undefined);
const QUEUED = { kind: "queued", id: "in_1", sessionKey: "s", position: 0 } as unknown as Receipt;

const ATTACHED = { attachments: [{ id: "1", filename: "a.txt", size: 1, url: "https://cdn.example/a.txt" }] };

type Facts = AccountState & { readonly kept: Map<string, string>; failing: (key: string) => boolean };

function memory(): Facts {
  const kept = new Map<string, string>();
  const facts: Facts = {
    kept,
    failing: () => false,
    get: async (key) => kept.get(key) ?? null,
    async put(key, value) {
      if (facts.failing(key)) throw new Error("disk full");
      kept.set(key, value);
    },
    async forget(key) {
      await new Promise((resolve) => setImmediate(resolve)); // as a disk does
      kept.delete(key);
    },
    list: async () => [],
  };
  return facts;
}

function world(over: Partial<IntakeDeps> & { receive?: IntakeDeps["door"]["receive"] } = {}) {
  const clock = createFakeClock();
  const log = recordingLog();
  const facts = memory();
  const looked: Arrival[] = [];
  const told: string[] = [];
  const expected: unknown[] = [];
  const stored: string[] = [];
  const pages: SaidMessage[][] = [];
  const reads: string[] = [];
  const channels = {
    createMessage: async (channel: string, { content }: { content: string }) =>
      void told.push(`${channel}: ${content}`),
    async getMessages(_channel: string, { after }: { after: string }) {
      reads.push(after);
      return pages.shift() ?? [];
    },
  };
  const receive: IntakeDeps["door"]["receive"] = async ({ text }) => (stored.push(text), QUEUED);
  const door = {
    look: async (arrival: Arrival) => (looked.push(arrival), { kind: "come", role: "owner" }),
    receive: over.receive ?? receive,
  } as unknown as IntakeDeps["door"];
  const files = { keep: () => SILENT, transcribe: () => SILENT } as unknown as InboundFiles;
  const intake = startIntake({
    clock,
    log,
    door,
    files,
    mediaMaxMb: 1,
    places: createPlaces(),
    seen: createSeen(facts),
    api: { channels } as unknown as IntakeDeps["api"],
    download: () => SILENT,
    previews: { expect: (...of: readonly unknown[]) => void expected.push(of) },
    me: () => ME,
    ...over,
  });
  let number = 0;
  const message = (content: string, channel = "1", more: object = {}): SaidMessage =>
    ({
      id: String(BigInt(snowflakeAt(clock.now())) + BigInt(++number)),
      channel_id: channel,
      author: FRIEND,
      content,
      attachments: [],
      mentions: [],
      embeds: [],
      type: 0,
      timestamp: "",
      edited_timestamp: null,
      ...more,
    }) as unknown as SaidMessage;
  return { clock, log, facts, looked, told, expected, stored, pages, reads, intake, message };
}

const stop = ({ intake }: ReturnType<typeof world>) =>
  waitForEnd("the stop", Promise.resolve(intake[Symbol.asyncDispose]()));

describe("discord intake: a message", () => {
  test("in a server is looked at as one of that server, and its answer is shown as a reply; in a direct chat not", async () => {
    const at = world();
    const inServer = at.message("here", "1", { guild_id: "77" });
    at.intake.said(inServer);
    at.intake.said(at.message("direct", "2"));
    await at.clock.advance(0);
    expect(at.looked.map(({ place }) => place)).toEqual(["77", undefined]);
    expect(at.expected).toEqual([
      ["in_1", { to: { channel: "discord", account: "default", chat: "1" }, replyTo: inServer.id }],
      ["in_1", { to: { channel: "discord", account: "default", chat: "2" }, replyTo: null }],
    ]);
    await stop(at);
  });

  test.each([
    ["too_long", "Too long.", ["1: Too long."]],
    ["too_long", "", []],
    ["ignored", "Too long.", []],
  ])("that is refused as %s with %p is answered with %p, and is not noted as read", async (because, say, answers) => {
    const at = world({ receive: async () => ({ kind: "refused", because, say }) as Receipt });
    at.intake.said(at.message("hi"));
    await at.clock.advance(0);
    expect([at.told, at.facts.kept.size]).toEqual([answers, 0]);
    await stop(at);
  });

  test("may answer an open question, and a change of it may not", async () => {
    const answers: unknown[] = [];
    const at = world({
      receive: async ({ text, answering }) => (answers.push([text, answering?.text ?? null]), QUEUED),
    });
    const first = at.message("yes");
    at.intake.said(first);
    at.intake.changed({ ...first, content: "no", edited_timestamp: "2026-01-01T00:00:00Z" });
    await at.clock.advance(0);
    expect(answers).toEqual([
      ["yes", "yes"],
      ["no", null],
    ]);
    await stop(at);
  });

  test("of a bot is passed over, and the next one is not", async () => {
    const at = world();
    at.intake.said(at.message("beep", "1", { author: { ...FRIEND, bot: true } }));
    at.intake.said(at.message("hi"));
    await at.clock.advance(0);
    expect([at.stored, at.log.lines.filter(({ level }) => level === "error")]).toEqual([["hi"], []]);
    await stop(at);
  });

  test("that cannot be stored at first is stored later, before the ones after it", async () => {
    let failures = 2;
    const stored: string[] = [];
    const at = world({
      receive: async ({ text }) => {
        if (failures-- > 0) throw new Error("disk full");
        stored.push(text);
        return QUEUED;
      },
    });
    for (const text of ["one", "two"]) at.intake.said(at.message(text));
    await at.clock.advance(3_000);
    expect(stored).toEqual(["one", "two"]);
    await stop(at);
  });

  test("is noted as read before the next one of its channel is dealt with", async () => {
    const noted = Promise.withResolvers<void>();
    const at = world({ seen: { ...createSeen(memory()), note: () => noted.promise } });
    for (const text of ["one", "two"]) at.intake.said(at.message(text));
    await at.clock.advance(0);
    expect(at.stored).toEqual(["one"]);
    noted.resolve();
    await at.clock.advance(0);
    expect(at.stored).toEqual(["one", "two"]);
    await stop(at);
  });

  test("waits while it is looked up where reading stopped, up to a limit, and then is dealt with in order", async () => {
    const known = Promise.withResolvers<[]>();
    const at = world({ seen: { ...createSeen(memory()), known: () => known.promise } });
    at.intake.begun();
    for (let n = 0; n < 2_010; n++) at.intake.said(at.message(`text ${n}`, String(n)));
    await at.clock.advance(0);
    expect([at.stored, at.log.lines.filter(({ level }) => level === "warn").length]).toEqual([[], 10]);
    known.resolve([]);
    await at.clock.advance(0);
    expect([at.stored.length, at.stored[0]]).toEqual([2_000, "text 0"]);
    at.intake.said(at.message("after"));
    await at.clock.advance(0);
    expect(at.stored.at(-1)).toBe("after");
    await stop(at);
  });
});

describe("discord intake: a stop", () => {
  /** Where a message can be under way; each is ended by the signal that it was given, or never. */
  const heard = (signal: AbortSignal) => orAborted(SILENT, signal);
  const file = { id: "1", filename: "a.txt", size: 1, url: "https://cdn.example/a.txt" };
  type Call = [unknown, unknown, { signal: AbortSignal }];
  const silentApi = {
    channels: {
      createMessage: (...of: Call) => heard(of[2].signal),
      getMessages: (...of: Call) => heard(of[2].signal),
    },
  } as unknown as IntakeDeps["api"];
  const failingApi = (error: Error) =>
    ({ channels: { getMessages: () => Promise.reject(error) } }) as unknown as IntakeDeps["api"];
  const gone = new DiscordAPIError({ code: 50001, message: "no" }, 50001, 403, "GET", "https://d.example", {});
  const readBefore = { known: async () => [{ id: "1", guild: null }], last: async () => "5" };
  const fails = () => Promise.reject(new Error("disk full"));
  const looking = (look: () => unknown) => ({ look }) as unknown as IntakeDeps["door"];
  const places: Readonly<Record<string, { over: Parameters<typeof world>[0]; more?: object; missed?: boolean }>> = {
    "being stored": { over: { receive: (_message, signal) => heard(signal) } },
    "fetching its file": {
      over: { files: { keep: (_file: unknown, signal: AbortSignal) => heard(signal) } as unknown as InboundFiles },
      more: { attachments: [file] },
    },
    "being looked at": { over: { door: looking(fails) } },
    "told to stay outside": {
      over: { api: silentApi, door: looking(async () => ({ kind: "stay", say: "Ask the owner." })) },
    },
    "being told to its sender": {
      over: {
        receive: async () => ({ kind: "refused", because: "too_long", say: "Too long." }) as Receipt,
        api: silentApi,
      },
    },
    "stored, and its sender is told of a file that is missing": {
      over: { api: silentApi, files: { keep: async () => ({ kind: "refused", note: "Too large." }) } as never },
      more: { attachments: [file] },
    },
    "being tried again": { over: { receive: () => Promise.reject(new Error("disk full")) } },
    "being noted as read": {
      over: { seen: { ...createSeen(memory()), note: () => Promise.reject(new Error("disk full")) } },
    },
    "being fetched after an absence": {
      over: { seen: { ...createSeen(memory()), ...readBefore }, api: silentApi },
      missed: true,
    },
    "being fetched again, because it could not be fetched": {
      over: { seen: { ...createSeen(memory()), ...readBefore }, api: failingApi(new Error("no answer")) },
      missed: true,
    },
    "missed, and nobody knows yet how far its channel was read": {
      over: { seen: { ...createSeen(memory()), ...readBefore, last: fails } },
      missed: true,
    },
    "missed in a channel that is gone, which cannot be forgotten": {
      over: { seen: { ...createSeen(memory()), ...readBefore, forget: fails }, api: failingApi(gone) },
      missed: true,
    },
    "waiting for the list of channels, which cannot be read": {
      over: { seen: { ...createSeen(memory()), known: () => Promise.reject(new Error("disk full")) } },
      missed: true,
    },
  };

  test.each(Object.entries(places))("while a message is %s ends at once and leaves no timer", async (_where, place) => {
    const at = world(place.over);
    if (place.missed) at.intake.begun();
    else at.intake.said(at.message("hi", "1", place.more));
    await at.clock.advance(0);
    await stop(at);
    expect(at.clock.pending()).toBe(0);
    at.intake.said(at.message("after the stop"));
    await at.clock.advance(0);
    expect(at.stored).not.toContain("after the stop");
  });
});

test("discord intake: a stop waits for a look at the list of channels that is under way", async () => {
  const known = Promise.withResolvers<[]>();
  const at = world({ seen: { ...createSeen(memory()), known: () => known.promise } });
  at.intake.begun();
  await at.clock.advance(0);
  let isOver = false;
  const stopping = stop(at).then(() => (isOver = true));
  await at.clock.advance(0);
  expect(isOver).toBe(false);
  known.resolve([]);
  await stopping;
});

test.each<[string, Parameters<typeof world>[0], object]>([
  ["why it is refused", { receive: async () => ({ kind: "refused", because: "too_long", say: "No." }) as Receipt }, {}],
  ["of a missing file", { files: { keep: async () => ({ kind: "refused", note: "Gone." }) } as never }, ATTACHED],
  ["to stay outside", { door: { look: async () => ({ kind: "stay", say: "No." }) } as never }, {}],
])(
  "discord intake: a sender is told %s before the next message of the channel is dealt with",
  async (_what, over, more) => {
    const told = Promise.withResolvers<object>();
    let tells = 0;
    const channels = { createMessage: () => (tells++, told.promise) };
    const at = world({ ...over, api: { channels } as unknown as IntakeDeps["api"] });
    for (const text of ["one", "two"]) at.intake.said(at.message(text, "1", more));
    await at.clock.advance(0);
    expect(tells).toBe(1);
    told.resolve({});
    await at.clock.advance(0);
    expect(tells).toBe(2);
    await stop(at);
  },
);

test("discord intake: a sender who cannot be told keeps nothing from going on, and fails nothing", async () => {
  const channels = { createMessage: () => Promise.reject(new Error("blocked")) };
  const at = world({
    files: { keep: async () => ({ kind: "refused", note: "Gone." }) } as never,
    api: { channels } as unknown as IntakeDeps["api"],
  });
  const said = at.message("one", "1", ATTACHED);
  at.intake.said(said);
  await at.clock.advance(0);
  expect([at.facts.kept.get("last:1"), at.log.lines.map(({ level }) => level)]).toEqual([said.id, ["debug"]]);
  await stop(at);
});

test("discord intake: what was too much in a channel of a server is fetched as said in that server", async () => {
  const letGo = Promise.withResolvers<void>();
  const at = world({ receive: async () => (await letGo.promise, QUEUED) });
  for (let n = 0; n < 202; n++) at.intake.said(at.message(`text ${n}`, "1", { guild_id: "77" }));
  await at.clock.advance(0);
  at.pages.push([at.message("fetched")]);
  letGo.resolve();
  for (let turn = 0; turn < 400 && at.pages.length > 0; turn++) await at.clock.advance(0);
  for (let turn = 0; turn < 10; turn++) await at.clock.advance(0);
  expect([at.looked.at(-1)?.said?.text, at.looked.at(-1)?.place]).toEqual(["fetched", "77"]);
  await stop(at);
});

describe("discord intake: what was missed", () => {
  test("is read page by page from where reading stopped, each message after the one before", async () => {
    let running = 0;
    let most = 0;
    const stored: string[] = [];
    const at = world({
      receive: async ({ text }) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        stored.push(text);
        return QUEUED;
      },
    });
    const first = at.message("known");
    await createSeen(at.facts).note({ id: "1", guild: null }, first.id);
    const all = Array.from({ length: 120 }, (_, n) => at.message(`text ${n}`));
    at.pages.push(all.slice(0, 100).toReversed(), all.slice(100).toReversed());
    at.intake.begun();
    for (let turn = 0; turn < 60; turn++) await at.clock.advance(0);
    expect([stored, most]).toEqual([all.map(({ content }) => content), 1]);
    expect(at.reads).toEqual([expect.any(String), all[99]?.id ?? ""]);
    await stop(at);
  });

  test("of a channel that cannot be read any more is given up, and the channel is forgotten", async () => {
    const at = world();
    await createSeen(at.facts).note({ id: "1", guild: null }, at.message("known").id);
    const seen = createSeen(at.facts);
    expect(await seen.last("1")).not.toBeNull();
    await seen.forget("1");
    expect([at.facts.kept.get("channels"), at.facts.kept.has("last:1"), await seen.last("1")]).toEqual([
      "[]",
      false,
      null,
    ]);
    await stop(at);
  });
});

describe("discord intake: trouble with the disk", () => {
  test("does not lose what was missed: how far a channel was read is looked up again", async () => {
    let failures = 2;
    const facts = memory();
    const seen = createSeen(facts);
    const last: typeof seen.last = (id) => (failures-- > 0 ? Promise.reject(new Error("disk full")) : seen.last(id));
    const known = async () => [{ id: "1", guild: null }];
    const at = world({ seen: { ...seen, last, known } });
    await seen.note({ id: "1", guild: null }, at.message("before").id);
    at.pages.push([at.message("missed")]);
    at.intake.begun();
    await at.clock.advance(3_000);
    expect(at.stored).toEqual(["missed"]);
    await stop(at);
  });
});

describe("how far Discord's channels were read", () => {
  const id = (n: number): string => String(BigInt(snowflakeAt(1_700_000_000_000)) + BigInt(n));

  test("is in the list of channels also when the disk was full at the first attempt", async () => {
    const facts = memory();
    const seen = createSeen(facts);
    facts.failing = (key) => key === "channels";
    await expect(seen.note({ id: "1", guild: "7" }, id(1))).rejects.toThrow("disk full");
    facts.failing = () => false;
    await seen.note({ id: "1", guild: "7" }, id(1)); // the intake tries again
    expect(await createSeen(facts).known()).toEqual([{ id: "1", guild: "7" }]);
    expect(await createSeen(facts).last("1")).toBe(id(1));
  });

  test("is listed once for each channel, however much is said there", async () => {
    const seen = createSeen(memory());
    for (let n = 1; n <= 3; n++) await seen.note({ id: "1", guild: null }, id(n));
    expect(await seen.known()).toEqual([{ id: "1", guild: null }]);
  });

  test("is forgotten durably: whoever asked for that waits until it is written", async () => {
    const facts = memory();
    const seen = createSeen(facts);
    await seen.note({ id: "1", guild: null }, id(1));
    const { put } = facts;
    facts.put = async (...row) => {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      await put(...row);
    };
    await seen.forget("1");
    expect([...facts.kept]).toEqual([["channels", "[]"]]);
  });

  test("is written when it is noted", async () => {
    const facts = memory();
    const { put } = facts;
    facts.put = async (...row) => {
      await new Promise((resolve) => setImmediate(resolve));
      await put(...row);
    };
    await createSeen(facts).note({ id: "1", guild: null }, id(1));
    expect(facts.kept.get("last:1")).toBe(id(1));
  });

  test("never goes back", async () => {
    const facts = memory();
    const seen = createSeen(facts);
    await seen.note({ id: "1", guild: null }, id(5));
    await seen.note({ id: "1", guild: null }, id(4));
    expect([facts.kept.get("last:1"), await seen.last("1")]).toEqual([id(5), id(5)]);
  });

  test("is remembered for so many channels, each once; the one used longest ago is forgotten whole", async () => {
    const facts = memory();
    const seen = createSeen(facts);
    for (let n = 0; n < 200; n++) await seen.note({ id: `c${n}`, guild: null }, id(n));
    await seen.note({ id: "c0", guild: null }, id(1_000)); // used again
    await seen.note({ id: "one more", guild: null }, id(1_001));
    const known = (await createSeen(facts).known()).map((one) => one.id);
    expect([known.length, new Set(known).size, known.includes("c0"), known.includes("c1")]).toEqual([
      200,
      200,
      true,
      false,
    ]);
    expect([facts.kept.has("last:c1"), await seen.last("c1")]).toEqual([false, null]);
  });

  test("is nowhere when the stored list is damaged in form", async () => {
    const facts = memory();
    facts.kept.set("channels", "{}");
    expect(await createSeen(facts).known()).toEqual([]);
  });
});

test("discord lanes: nothing is kept of channels whose work has ended, also when it failed or was too much", async () => {
  const lanes = createLanes({ maxWaiting: 1, onCaughtUp: () => undefined, onFailed: () => undefined });
  const kept = await keptPerRound(async (round) => {
    lanes.add(`channel ${round}`, () => (round % 2 === 0 ? Promise.resolve() : Promise.reject(new Error("no"))));
    lanes.add(`channel ${round}`, () => Promise.resolve());
    await waitForEnd("the end of all work", lanes.settled());
  });
  expect(kept).toEqual({});
});

test("discord files: one that could not be taken is told to the agent in the text, and to its sender", async () => {
  const files = { keep: async () => ({ kind: "refused", note: "bad was not taken" }) } as unknown as InboundFiles;
  const at = world({ files });
  const attachments = [{ filename: "bad", size: 1, url: "https://cdn.example/a" }];
  at.intake.said(at.message("look", "1", { attachments }));
  await at.clock.advance(0);
  expect(at.stored).toEqual(["look\n[bad was not taken]"]);
  expect(at.told).toEqual(["1: bad was not taken"]);
  await stop(at);
});

test("discord files: a download is given up with whoever keeps the file", async () => {
  const downloads: (readonly [string, AbortSignal])[] = [];
  const until = new AbortController().signal;
  const keep = async ({ open }: ArrivingFile) => (await open(until), { kind: "refused", note: "Gone." });
  const at = world({
    files: { keep } as unknown as InboundFiles,
    download: async (url, signal) => (downloads.push([url, signal]), new Blob([]).stream()),
  });
  at.intake.said(at.message("look", "1", ATTACHED));
  await at.clock.advance(0);
  expect(downloads).toEqual([["https://cdn.example/a.txt", until]]);
  expect(downloads[0]?.[1]).toBe(until);
  await stop(at);
});

test("discord places: a thread belongs to its channel while it is there, and other channels to themselves", () => {
  const places = createPlaces();
  const learn = (t: string, d: object): void => places.learn({ t, d } as never);
  learn("GUILD_CREATE", {
    threads: [
      { id: "t1", type: 11, parent_id: "c1" },
      { id: "c2", type: 0, parent_id: "category" },
    ],
  });
  learn("GUILD_CREATE", {});
  learn("THREAD_CREATE", { id: "t2", type: 12, parent_id: "c1" });
  const here = (channel: string) => [places.address(channel).chat, places.address(channel).thread];
  expect([here("t1"), here("t2"), here("c2")]).toEqual([
    ["c1", "t1"],
    ["c1", "t2"],
    ["c2", undefined],
  ]);
  learn("THREAD_DELETE", { id: "t1" });
  expect(here("t1")).toEqual(["t1", undefined]);
});

test("discord places: so many threads are remembered, and the oldest is forgotten first", () => {
  const places = createPlaces();
  for (let n = 0; n <= 20_000; n++)
    places.learn({ t: "THREAD_CREATE", d: { id: `t${n}`, type: 11, parent_id: "c" } } as never);
  expect([places.address("t0").chat, places.address("t1").chat, places.address("t20000").chat]).toEqual([
    "t0",
    "c",
    "c",
  ]);
});

test("discord reactions: who reacted where is told, and our own and other bots' are not", () => {
  const told = { user_id: "5", channel_id: "1", message_id: "2", guild_id: "77", emoji: { id: null, name: "👍" } };
  const here = { me: ME, places: createPlaces() };
  const of = (more: object) => reactionOf({ ...told, ...more } as never, "add", here);
  expect(of({})).toMatchObject({ scope: "group", place: "77", sender: { principal: "discord:user:5", name: "" } });
  expect(of({ member: { user: FRIEND } })).toMatchObject({
    sender: { principal: `discord:user:${FRIEND.id}`, name: "Frida" },
  });
  expect(of({ guild_id: undefined })).not.toHaveProperty("place");
  expect(of({ emoji: { id: "9", name: "party" } })?.emoji).toEqual([":party:"]);
  expect([
    of({ user_id: ME }),
    of({ member: { user: { ...FRIEND, bot: true } } }),
    of({ emoji: { id: "9", name: null } }),
  ]).toEqual([null, null, null]);
});

test("discord intake: a stranger in a thread is told there, and not in its channel", async () => {
  const places = createPlaces();
  places.learn({ t: "THREAD_CREATE", d: { id: "8", type: 11, parent_id: "1" } } as never);
  const door = { look: async () => ({ kind: "stay", say: "ask the owner" }) } as unknown as IntakeDeps["door"];
  const at = world({ places, door });
  at.intake.said(at.message("hi", "8"));
  at.intake.said(at.message("hi", "1"));
  await at.clock.advance(0);
  expect(at.told).toEqual(["8: ask the owner", "1: ask the owner"]);
  await stop(at);
});

test("discord intake: missed messages are asked for twelve times, after longer and longer pauses", async () => {
  const clock = createFakeClock();
  const log = recordingLog();
  const asked: number[] = [];
  const getMessages = () => (asked.push(clock.elapsed()), Promise.reject(new Error("no answer")));
  const api = { channels: { getMessages } } as unknown as IntakeDeps["api"];
  const seen = { last: async () => snowflakeAt(clock.now()), forget: async () => undefined };
  const ended = catchUp(
    { clock, log, api, seen },
    { id: "1", guild: null },
    async () => undefined,
    new AbortController().signal,
  );
  for (let minute = 0; minute < 15; minute++) for (let s = 0; s < 60; s++) await clock.advance(1_000);
  await waitForEnd("the end of the tries", ended);
  const pauses = asked.slice(1).map((at, n) => (at - (asked[n] ?? 0)) / 1_000);
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]);
  expect(log.lines.map(({ words }) => words)).toEqual(["missed messages could not be fetched"]);
});
