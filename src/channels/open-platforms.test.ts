/** Platforms that open, fail, hang, change and die, beside each other. */
import { describe, expect, test } from "bun:test";
import type { Config } from "../config/index.ts";
import { SendError } from "../contracts/channel.ts";
import type { OpenChannel } from "../contracts/channels/platform.ts";
import { deferred } from "../kit/deferred.ts";
import { secret } from "../kit/secret.ts";
import { channelBench } from "../testing/channels/channel-bench.ts";
import { waitForEnd } from "../testing/wait-for.ts";
import { unhandledIn } from "../testing/unhandled.ts";
import { createPlatforms, type HoldPlatform, OPEN_MS, type PlatformEntry } from "./open-platforms.ts";

const NEVER = new AbortController().signal;

interface Shown {
  readonly opened: string[];
  readonly closed: string[];
}

function account(id: string, name: string, shown: Shown): OpenChannel {
  shown.opened.push(`${id}/${name}`);
  return {
    id,
    account: name,
    canRefuse: false,
    repeat: "risky",
    whenLost: "hold",
    webhook: { path: `/${id}/${name}`, handle: async () => ({ status: 200 }) },
    send: async ({ to }) => ({ providerId: `by ${to.account}` }),
    edit: async ({ to }) => (to.account === name ? { kind: "done" } : { kind: "refused", because: "wrong account" }),
    ready: () => true,
    health: () => ({ ok: true, detail: `${name} polls` }),
    [Symbol.asyncDispose]: async () => void shown.closed.push(`${id}/${name}`),
  };
}

/** `settings` are what the test says they are: `{ one: … }` turns platform `one` on. */
const config = (settings: Record<string, unknown>): Config => ({ settings }) as unknown as Config;
const settingsOf = (from: Config): Record<string, unknown> =>
  (from as unknown as { settings: object }).settings as never;

function entry(id: string, shown: Shown, more: Partial<PlatformEntry> = {}): PlatformEntry {
  return {
    id,
    settings: (from) => settingsOf(from)[id] ?? null,
    load: async (from) => ({
      id,
      open: async () =>
        (settingsOf(from)[id] as { accounts: string[] }).accounts.map((name) => account(id, name, shown)),
    }),
    ...more,
  };
}

async function world(entries: (shown: Shown) => readonly PlatformEntry[], hold?: HoldPlatform) {
  const bench = await channelBench();
  const shown: Shown = { opened: [], closed: [] };
  const platforms = createPlatforms(bench.deps, entries(shown), hold ? { hold } : {});
  const end = async () => {
    await platforms[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  };
  return { bench, shown, platforms, [Symbol.asyncDispose]: end };
}

describe("a change of platforms", () => {
  const broken = (shown: Shown, open: () => Promise<readonly OpenChannel[]>) => [
    entry("one", shown, { load: async () => ({ id: "one", open }) }),
  ];
  const told = ({ bench }: { bench: Awaited<ReturnType<typeof channelBench>> }) => {
    const changes: string[] = [];
    bench.deps.events.on("status", ({ what }) => void changes.push(what));
    return () => changes.splice(0).length;
  };

  test("is told each time: when it is opened, fails, is tried again, and goes", async () => {
    let fails = true;
    await using w = await world((shown) =>
      broken(shown, async () => {
        if (fails) throw new Error("no network");
        return [account("one", "a", shown)];
      }),
    );
    const changes = told(w);
    await w.platforms.apply(config({ one: 1 }));
    await w.bench.clock.advance(0);
    expect(changes()).toBe(2); // it is there now, and it is in trouble
    expect(w.platforms.channel("one")?.health()).toMatchObject({ ok: false, detail: "no network" });
    fails = false;
    await w.bench.clock.advance(5_000);
    expect([changes(), w.platforms.channel("one")?.health().ok]).toEqual([1, true]);
    await w.platforms.apply(config({}));
    expect([changes(), w.platforms.channel("one")]).toEqual([1, undefined]);
  });

  test("is over for one that has no account: its trouble is forgotten", async () => {
    let tries = 0;
    await using w = await world((shown) =>
      broken(shown, async () => {
        if (++tries === 1) throw new Error("no network");
        return [];
      }),
    );
    await w.platforms.apply(config({ one: 1 }));
    await w.bench.clock.advance(5_000);
    expect(w.platforms.health()).toEqual([{ id: "one", ok: false, detail: "no account is configured" }]);
  });

  test("does not wait without end for an account that does not close", async () => {
    const w = await world((shown) =>
      broken(shown, async () => [
        { ...account("one", "a", shown), [Symbol.asyncDispose]: () => new Promise<void>(() => undefined) },
      ]),
    );
    await w.platforms.apply(config({ one: 1 }));
    await w.bench.clock.advance(0);
    const applied = w.platforms.apply(config({}));
    await w.bench.clock.advance(5_000);
    await waitForEnd("the change", applied);
    expect(w.bench.log.lines.map(({ words }) => words)).toContain("channel did not close cleanly");
    await w[Symbol.asyncDispose]();
  });

  test("that is under way at the stop is finished first, and what it has opened is closed", async () => {
    const closing = Promise.withResolvers<undefined>();
    const closed: number[] = [];
    let opened = 0;
    await using w = await world((shown) =>
      broken(shown, async () => {
        const number = ++opened;
        const end = async (): Promise<void> => {
          if (number === 1) await closing.promise;
          closed.push(number);
        };
        return [{ ...account("one", "a", shown), [Symbol.asyncDispose]: end }];
      }),
    );
    await w.platforms.apply(config({ one: 1 }));
    await w.bench.clock.advance(0);
    const applied = w.platforms.apply(config({ one: 2 }));
    await w.bench.clock.advance(0);
    const stopping = Promise.resolve(w.platforms[Symbol.asyncDispose]());
    await w.bench.clock.advance(0);
    closing.resolve(undefined);
    await waitForEnd("the stop", Promise.all([applied, stopping]));
    await w.bench.clock.advance(0);
    expect([closed.length === opened, w.platforms.health()]).toEqual([true, []]);
  });

  test("closes at once for whoever asks, however long an account takes to close", async () => {
    const closing = Promise.withResolvers<undefined>();
    await using w = await world((shown) =>
      broken(shown, async () => [{ ...account("one", "a", shown), [Symbol.asyncDispose]: () => closing.promise }]),
    );
    await w.platforms.apply(config({ one: 1 }));
    await w.bench.clock.advance(0);
    expect(w.platforms.webhook("/one/a")).not.toBeNull();
    const applied = w.platforms.apply(config({}));
    await w.bench.clock.advance(0);
    const meanwhile = [w.platforms.webhook("/one/a"), w.platforms.health()];
    closing.resolve(undefined);
    await applied;
    expect(meanwhile).toEqual([null, [{ id: "one", ok: false, detail: "no account is configured" }]]);
  });
});

describe("platforms", () => {
  test("are loaded only when they are on, and replies take the account they belong to", async () => {
    await using w = await world((shown) => [
      entry("one", shown),
      entry("two", shown, { load: () => Promise.reject(new Error("loaded although it is off")) }),
    ]);
    await w.platforms.apply(config({ one: { accounts: ["a", "b"] } }));
    await w.bench.clock.advance(0);
    expect(w.platforms.health().map(({ id, ok }) => `${id} ${ok}`)).toEqual(["one/a true", "one/b true"]);
    const channel = w.platforms.channel("one");
    const [part] = await w.bench.reply({ channel: "one", account: "b", chat: "1" }, ["hello"]);
    if (!part || !channel) throw new Error("nothing to send");
    expect(await channel.send(part, NEVER)).toEqual({ providerId: "by b" });
    expect(channel.ready(part.to)).toBe(true);
    expect(channel.ready({ ...part.to, account: "c" })).toBe(false);
    const target = { to: part.to, sessionKey: part.sessionKey, messageId: "1" };
    expect(await channel.edit?.(target, "x", NEVER)).toEqual({ kind: "done" });
    expect(channel).not.toHaveProperty("delete");
    expect(w.platforms.channel("two")).toBeUndefined();
    expect(w.platforms.webhook("/one/b")?.path).toBe("/one/b");
    expect(w.platforms.webhook("/two/a")).toBeNull();
  });

  test("that did not open say so, keep their replies waiting, and are tried again", async () => {
    let tries = 0;
    await using w = await world((shown) => [
      entry("one", shown, {
        load: async (from) => {
          if (++tries < 3) throw new Error("the library is broken");
          return entry("one", shown).load(from);
        },
      }),
      entry("two", shown),
    ]);
    await w.platforms.apply(config({ one: { accounts: ["a"] }, two: { accounts: ["a"] } }));
    await w.bench.clock.advance(0);
    expect(w.platforms.health()).toEqual([
      { id: "one", ok: false, detail: "the library is broken" },
      { id: "two", ok: true, detail: "a polls" },
    ]);
    expect([w.platforms.accountOf("two"), w.platforms.accountOf("one")]).toEqual(["a", undefined]);
    const waiting = w.platforms.channel("one");
    expect(waiting).toMatchObject({ repeat: "safe" });
    expect(waiting?.ready({ channel: "one", account: "a", chat: "1" })).toBe(false);
    await w.bench.clock.advance(20_000);
    expect(tries).toBe(3);
    expect(w.platforms.health().map(({ ok }) => ok)).toEqual([true, true]);
    expect(w.platforms.channel("one")).toMatchObject({ repeat: "risky", whenLost: "hold" });
  });

  test("that hang are given up, keep nobody waiting, and leave nothing behind when they come late", async () => {
    const late = Promise.withResolvers<readonly OpenChannel[]>();
    await using w = await world((shown) => [
      entry("one", shown, { load: async () => ({ id: "one", open: () => late.promise }) }),
      entry("two", shown),
    ]);
    await w.platforms.apply(config({ one: {}, two: { accounts: ["a"] } }));
    await w.bench.clock.advance(OPEN_MS);
    expect(w.platforms.health()[0]).toMatchObject({ ok: false, detail: "not open within 30 s" });
    expect(w.platforms.health()[1]).toMatchObject({ ok: true });
    late.resolve([account("one", "late", w.shown)]);
    await w.bench.clock.advance(0);
    expect(w.shown.closed).toEqual(["one/late"]);
  });

  test("that changed are replaced, secrets included; the others go on undisturbed", async () => {
    await using w = await world((shown) => [entry("one", shown), entry("two", shown), entry("three", shown)]);
    const before = { accounts: ["a"], token: secret("x".repeat(20)) };
    await w.platforms.apply(config({ one: before, two: { accounts: ["a"] }, three: { accounts: ["a"] } }));
    await w.bench.clock.advance(0);
    const after = { accounts: ["a"], token: secret("y".repeat(20)) };
    await w.platforms.apply(config({ one: after, two: { accounts: ["a"] } }));
    await w.bench.clock.advance(0);
    expect(w.shown.opened).toEqual(["one/a", "two/a", "three/a", "one/a"]);
    expect(w.shown.closed).toEqual(["one/a", "three/a"]);
    await w.platforms[Symbol.asyncDispose]();
    expect(w.shown.closed.toSorted()).toEqual(["one/a", "one/a", "three/a", "two/a"]);
  });

  test("that cannot say how they are are not well, and do not take the others along", async () => {
    await using w = await world((shown) => [
      entry("one", shown, {
        load: async () => ({
          id: "one",
          open: async () => [
            {
              ...account("one", "a", shown),
              health: () => {
                throw new Error("dead");
              },
            },
          ],
        }),
      }),
      entry("two", shown),
    ]);
    await w.platforms.apply(config({ one: {}, two: { accounts: ["a"] } }));
    await w.bench.clock.advance(0);
    expect(w.platforms.health().map(({ ok }) => ok)).toEqual([false, true]);
  });

  test("refuse to send for an account that is not there, so that it is tried again", async () => {
    await using w = await world((shown) => [entry("one", shown)]);
    await w.platforms.apply(config({ one: { accounts: ["a"] } }));
    await w.bench.clock.advance(0);
    const [part] = await w.bench.reply({ channel: "one", account: "gone", chat: "1" }, ["hello"]);
    const failed = await w.platforms
      .channel("one")
      ?.send(part as never, NEVER)
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(SendError);
    expect(failed).toMatchObject({ kind: "retry" });
  });
});

test("settings that a platform cannot read keep no later ones from being applied", async () => {
  let broken = true;
  await using w = await world((shown) => [
    entry("one", shown, {
      settings(from) {
        if (broken) throw new Error("it cannot read that");
        return settingsOf(from)["one"] ?? null;
      },
    }),
  ]);
  expect(await unhandledIn(async () => void (await w.platforms.apply(config({}))))).toEqual([]);
  broken = false;
  await w.platforms.apply(config({ one: { accounts: ["a"] } }));
  await w.bench.clock.advance(0);
  expect(w.shown.opened).toEqual(["one/a"]);
});

test("a platform that needs no settings is closed when it is turned off", async () => {
  await using w = await world((shown) => [
    entry("one", shown, { load: async () => ({ id: "one", open: async () => [account("one", "a", shown)] }) }),
  ]);
  await w.platforms.apply(config({ one: {} }));
  await w.bench.clock.advance(0);
  await w.platforms.apply(config({}));
  expect([w.shown.closed, w.platforms.channels()]).toEqual([["one/a"], []]);
});

test("a platform that is closed in any moment around its opening does not stay open", async () => {
  const MOMENTS = 12; // turns of the promise queue, more than there are between an open platform and its place in the list
  for (let moment = 0; moment < MOMENTS; moment++) {
    const opening = Promise.withResolvers<readonly OpenChannel[]>();
    await using w = await world((shown) => [
      entry("one", shown, { load: async () => ({ id: "one", open: () => opening.promise }) }),
    ]);
    await w.platforms.apply(config({ one: { accounts: ["a"] } }));
    await w.bench.clock.advance(0);
    opening.resolve([account("one", "a", w.shown)]);
    for (let turn = 0; turn < moment; turn++) await Promise.resolve();
    await w.platforms.apply(config({}));
    await w.bench.clock.advance(0);
    expect([moment, w.shown.closed]).toEqual([moment, ["one/a"]]);
  }
});

test("a platform whose code throws before it has begun to open is tried again like any other", async () => {
  let failures = 1;
  await using w = await world((shown) => {
    const good = entry("one", shown);
    const load: PlatformEntry["load"] = (from) => {
      if (failures-- > 0) throw new Error("no file descriptors");
      return good.load(from);
    };
    return [{ ...good, load }];
  });
  const unhandled = await unhandledIn(async () => {
    await w.platforms.apply(config({ one: { accounts: ["a"] } }));
    await w.bench.clock.advance(60_000);
  });
  expect([unhandled, w.shown.opened]).toEqual([[], ["one/a"]]);
});

describe("a platform that one gateway at a time receives for", () => {
  const ON = config({ one: { accounts: ["a"] } });
  const fixture = async () => {
    const other = { by: "east:9" as string | null, fails: false, released: 0 };
    const hold: HoldPlatform = async () => {
      if (other.fails) throw new Error("no connection");
      if (other.by !== null) return { kind: "held", by: other.by };
      return { kind: "mine", isWanted: null, release: async () => void other.released++ };
    };
    const w = await world((shown) => [entry("one", shown)], hold);
    return { ...w, other };
  };

  test("opens when the other gateway has ended, says until then which one has it, and is given back when it is closed", async () => {
    await using w = await fixture();
    await w.platforms.apply(ON);
    await w.bench.clock.advance(60_000);
    const [health] = w.platforms.health();
    expect([w.shown.opened, health?.detail]).toEqual([[], "another gateway receives for it (east:9)"]);
    expect(w.platforms.channel("one")?.health().detail).toBe("another gateway receives for it (east:9)");
    w.other.by = null;
    await w.bench.clock.advance(5_000); // it is asked every five seconds, however long it takes
    expect(w.shown.opened).toEqual(["one/a"]);
    await w.platforms.apply(config({}));
    expect([w.shown.closed, w.other.released]).toEqual([["one/a"], 1]);
  });

  test("is asked for once, however often it does not open, and given back once", async () => {
    const asked: string[] = [];
    const counts = { released: 0 };
    const hold: HoldPlatform = async (id) => {
      asked.push(id);
      return { kind: "mine", isWanted: null, release: async () => void counts.released++ };
    };
    const load = () => Promise.reject(new Error("no network"));
    const w = await world((shown) => [entry("one", shown, { load })], hold);
    await w.platforms.apply(ON);
    await w.bench.clock.advance(60_000);
    await w[Symbol.asyncDispose]();
    expect([asked, counts.released]).toEqual([["one"], 1]);
  });

  /** `reaches`: whether this gateway has a connection to the platform; null: it cannot even be opened. */
  const away = async (reaches: boolean | null, isWanted: boolean) => {
    const state = { reaches, asked: 0, released: 0 };
    const hold: HoldPlatform = async () => {
      state.asked++;
      return { kind: "mine", isWanted: () => isWanted, release: async () => void state.released++ };
    };
    const isUp = () => state.reaches === true;
    const open = async (shown: Shown): Promise<OpenChannel[]> => {
      if (state.reaches === null) throw new Error("no network");
      return [{ ...account("one", "a", shown), ready: isUp, health: () => ({ ok: isUp(), detail: "" }) }];
    };
    const load = (shown: Shown) => async () => ({ id: "one", open: () => open(shown) });
    const w = await world((shown) => [entry("one", shown, { load: load(shown) })], hold);
    await w.platforms.apply(ON);
    return { ...w, state };
  };

  test("is left to another gateway when this one cannot reach it for half a minute, and asked for again later", async () => {
    await using w = await away(true, true);
    const { clock } = w.bench;
    await clock.advance(300_000);
    expect([w.shown.closed, w.state.released]).toEqual([[], 0]);
    w.state.reaches = false;
    await clock.advance(25_000);
    expect([w.shown.closed, w.state.released]).toEqual([[], 0]);
    await clock.advance(10_000);
    expect([w.shown.closed, w.state.released, w.state.asked]).toEqual([["one/a"], 1, 1]);
    expect(w.platforms.health()[0]?.detail).toContain("cannot reach it");
    await clock.advance(5_000); // others ask every five seconds
    expect(w.state.asked).toBe(1);
    w.state.reaches = true;
    await clock.advance(10_000);
    expect([w.state.asked, w.shown.opened]).toEqual([2, ["one/a", "one/a"]]);
  });

  test("is left to another gateway at once when it cannot be opened here", async () => {
    await using w = await away(null, true);
    await w.bench.clock.advance(0);
    expect([w.state.released, w.state.asked]).toEqual([1, 1]);
    await w.bench.clock.advance(15_000);
    expect(w.state.asked).toBe(2);
  });

  test.each([false, null])("stays here, reached (%p) or not, while there is no other gateway", async (reaches) => {
    await using w = await away(reaches, false);
    await w.bench.clock.advance(120_000);
    expect([w.state.released, w.shown.closed]).toEqual([0, []]);
  });

  test("that is stopped while it is asked for, or opens, is in no trouble that anybody reads of", async () => {
    for (const [hold, load] of [
      [() => new Promise<never>(() => undefined), undefined],
      [undefined, () => new Promise<never>(() => undefined)],
    ] as const) {
      const w = await world((shown) => [entry("one", shown, load ? { load } : {})], hold);
      await w.platforms.apply(ON);
      await w.bench.clock.advance(0);
      const stopping = Promise.resolve(w[Symbol.asyncDispose]());
      await w.bench.clock.advance(5_000); // the answer that is waited for a while
      await waitForEnd("the stop", stopping);
      expect(w.bench.log.lines.map(({ words }) => words)).not.toContain("platform did not open");
    }
  });

  test("opens at once when it is known that the other gateway has ended", async () => {
    await using w = await fixture();
    await w.platforms.apply(ON);
    await w.bench.clock.advance(0);
    w.other.by = null;
    w.platforms.tryAgain();
    await w.bench.clock.advance(0);
    expect(w.shown.opened).toEqual(["one/a"]);
  });

  test("stays closed while the database cannot be asked", async () => {
    await using w = await fixture();
    w.other.by = null;
    w.other.fails = true;
    await w.platforms.apply(ON);
    await w.bench.clock.advance(5_000);
    expect([w.shown.opened, w.platforms.health()[0]?.detail]).toEqual([[], expect.stringContaining("database")]);
    w.other.fails = false;
    await w.bench.clock.advance(5_000);
    expect(w.shown.opened).toEqual(["one/a"]);
  });

  test("that was switched off while the database was asked is given back when the answer comes", async () => {
    const answer = deferred<Awaited<ReturnType<HoldPlatform>>>();
    let released = 0;
    await using w = await world(
      (shown) => [entry("one", shown)],
      () => answer.promise,
    );
    await w.platforms.apply(ON);
    const off = w.platforms.apply(config({}));
    await w.bench.clock.advance(0);
    answer.resolve({ kind: "mine", isWanted: null, release: async () => void released++ });
    await waitForEnd("the change", off);
    expect([w.shown.opened, released]).toEqual([[], 1]);
  });

  test("is closed although the database never says whether it was given back or was ever held", async () => {
    await using w = await world(
      (shown) => [entry("one", shown)],
      () => new Promise(() => undefined),
    );
    await w.platforms.apply(ON);
    const off = w.platforms.apply(config({}));
    await w.bench.clock.advance(5_000);
    await waitForEnd("the change", off);
    expect(w.platforms.channel("one")).toBeUndefined();
  });

  test("is closed although giving it back fails, and the log says so", async () => {
    await using w = await world(
      (shown) => [entry("one", shown)],
      async () => ({ kind: "mine", isWanted: null, release: () => Promise.reject(new Error("no connection")) }),
    );
    await w.platforms.apply(ON);
    await w.bench.clock.advance(0);
    await w.platforms.apply(config({}));
    expect(w.platforms.channel("one")).toBeUndefined();
    expect(w.bench.log.lines.map(({ words }) => words)).toContain("platform could not be given back to other gateways");
  });

  test("that is open or fails for itself is not hurried when another gateway has ended", async () => {
    const tries: string[] = [];
    await using w = await world((shown) => [
      entry("one", shown, {
        load: async () => {
          tries.push("one");
          throw new Error("no network");
        },
      }),
    ]);
    await w.platforms.apply(ON);
    await w.bench.clock.advance(0);
    w.platforms.tryAgain();
    await w.bench.clock.advance(0);
    expect(tries).toEqual(["one"]);
  });
});

describe("a platform that is being closed", () => {
  test("is not there any more for whoever sends or calls, while its account still closes", async () => {
    const closing = deferred<void>();
    await using w = await world((shown) => [
      entry("one", shown, {
        load: async () => ({
          id: "one",
          open: async () => [{ ...account("one", "a", shown), [Symbol.asyncDispose]: () => closing.promise }],
        }),
      }),
    ]);
    await w.platforms.apply(config({ one: { accounts: ["a"] } }));
    await w.bench.clock.advance(0);
    const to = { channel: "one", account: "a", chat: "5" };
    expect([w.platforms.channel("one")?.ready(to), w.platforms.webhook("/one/a") !== null]).toEqual([true, true]);
    const off = w.platforms.apply(config({}));
    await w.bench.clock.advance(0);
    const meanwhile = [w.platforms.channel("one")?.ready(to), w.platforms.webhook("/one/a")];
    closing.resolve();
    await waitForEnd("the change", off);
    expect(meanwhile).toEqual([false, null]);
  });

  test("is tried again after five seconds, then after twice as long each time, up to five minutes", async () => {
    const times: number[] = [];
    const w = await world((shown) => [
      entry("one", shown, { load: () => (times.push(w.bench.clock.elapsed()), Promise.reject(new Error("offline"))) }),
    ]);
    await w.platforms.apply(config({ one: { accounts: ["a"] } }));
    await w.bench.clock.advance(1_500_000);
    const pauses = times.slice(1).map((time, before) => (time - (times[before] ?? 0)) / 1_000);
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300]);
    await w[Symbol.asyncDispose]();
  });

  test("says in short why it does not open, however long the reason is", async () => {
    await using w = await world((shown) => [
      entry("one", shown, { load: () => Promise.reject(new Error("x".repeat(5_000))) }),
    ]);
    await w.platforms.apply(config({ one: { accounts: ["a"] } }));
    await w.bench.clock.advance(0);
    expect(w.platforms.health()[0]?.detail).toBe("x".repeat(200));
  });
});
