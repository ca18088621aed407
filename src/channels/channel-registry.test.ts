/** Channels by id, and platforms that open, close and are replaced: in order, told, with the caller's signal, and nothing left open. */
import { describe, expect, test } from "bun:test";
import type { Config } from "../config/index.ts";
import type { Channel } from "../contracts/channel.ts";
import type { OpenChannel, PlatformDeps } from "../contracts/channels/platform.ts";
import { channelBench } from "../testing/channels/channel-bench.ts";
import { waitForEnd } from "../testing/wait-for.ts";
import { createChannelRegistry } from "./channel-registry.ts";
import { createPlatforms } from "./open-platforms.ts";
import { createSwitchboard } from "./switchboard.ts";

const NEVER = new AbortController().signal;
const channel = (id: string): Channel => ({
  id,
  canRefuse: false,
  repeat: "safe",
  send: async () => ({}),
  ready: () => true,
  health: () => ({ ok: true, detail: id }),
});

test("channel registry: every channel is wrapped once, also one of a platform, and inner ones are not listed", () => {
  const platform = channel("pigeon");
  const wraps: string[] = [];
  const registry = createChannelRegistry((one) => (wraps.push(one.id), { ...one }));
  registry.register(channel("webchat"));
  registry.register(channel("delegate"), { unlisted: true });
  expect([registry.get("pigeon"), registry.health().length, registry.access()]).toEqual([undefined, 1, {}]);
  const platforms = {
    channel: (id: string) => (id === "pigeon" ? platform : undefined),
    health: () => [{ id: "pigeon", ok: true, detail: "flies" }],
    accountOf: (line: string) => (line === "pigeon" ? "roof" : undefined),
    access: () => ({ pigeon: { dmPolicy: "open", groupPolicy: "disabled" } as const }),
  };
  registry.registerPlatforms(platforms);
  expect([registry.accountOf("pigeon"), registry.accountOf("webchat")]).toEqual(["roof", "default"]);
  const first = registry.get("pigeon");
  expect([first?.id, registry.get("pigeon") === first, first === platform]).toEqual(["pigeon", true, false]);
  expect([registry.get("delegate")?.id, registry.get("nothing")]).toEqual(["delegate", undefined]);
  expect(wraps).toEqual(["webchat", "delegate", "pigeon"]);
  expect(registry.health().map(({ id }) => id)).toEqual(["webchat", "pigeon"]);
  expect([registry.isOwn("delegate"), registry.isOwn("pigeon"), Object.keys(registry.access())]).toEqual([
    true,
    false,
    ["pigeon"],
  ]);
  expect(() => registry.register(channel("webchat"))).toThrow("two channels");
  expect(() => registry.registerPlatforms(platforms)).toThrow("already");
});

function account(name: string, more: Partial<OpenChannel> = {}): OpenChannel {
  return {
    id: "one",
    account: name,
    canRefuse: false,
    repeat: "risky",
    send: async () => ({ providerId: name }),
    ready: () => true,
    health: () => ({ ok: true, detail: name }),
    [Symbol.asyncDispose]: async () => undefined,
    ...more,
  };
}

test("switchboard: each ability takes the account of its chat with the caller's signal, and is there only where accounts have it", async () => {
  const heard: unknown[] = [];
  const able = (name: string) =>
    account(name, {
      edit: async (...given) => (heard.push([name, "edit", given[2]]), { kind: "done" }),
      delete: async (...given) => (heard.push([name, "delete", given[1]]), { kind: "done" }),
      react: async (...given) => (heard.push([name, "react", given[2]]), { kind: "done" }),
      pin: async (...given) => (heard.push([name, "pin", given[2]]), { kind: "done" }),
    });
  const board = createSwitchboard("one", [able("a"), able("b")], null);
  const to = (name: string) => ({ to: { channel: "one", account: name, chat: "1" }, messageId: "1" }) as never;
  const signal = new AbortController().signal;
  await board.edit?.(to("b"), "x", signal);
  await board.delete?.(to("b"), signal);
  await board.react?.(to("b"), { emoji: [], remove: false }, signal);
  await board.pin?.(to("b"), false, signal);
  expect(heard.map((one) => (one as unknown[]).slice(0, 2))).toEqual([
    ["b", "edit"],
    ["b", "delete"],
    ["b", "react"],
    ["b", "pin"],
  ]);
  expect(heard.every((one) => (one as unknown[])[2] === signal)).toBe(true);
  expect(await board.delete?.(to("gone"), signal)).toMatchObject({ kind: "refused" });
  const bare = createSwitchboard("one", [account("a")], null);
  for (const ability of ["edit", "delete", "react", "pin", "questions", "messages"] as const)
    expect([ability, ability in bare]).toEqual([ability, false]);
  expect(createSwitchboard("one", [], null).health()).toEqual({
    id: "one",
    ok: false,
    detail: "no account is configured",
  } as never);
});

const on = (settings: unknown): Config => ({ settings }) as unknown as Config;
const settingsIn = (config: Config): unknown => (config as unknown as { settings: unknown }).settings;

async function world(
  open: (deps: PlatformDeps, signal: AbortSignal, config: Config) => Promise<readonly OpenChannel[]>,
) {
  const bench = await channelBench();
  const told: string[] = [];
  bench.deps.events.on("status", ({ what }) => void told.push(what));
  const platforms = createPlatforms(bench.deps, [
    {
      id: "one",
      settings: settingsIn,
      load: async (config) => ({ id: "one", open: (deps, signal) => open(deps, signal, config) }),
    },
  ]);
  return {
    bench,
    told,
    platforms,
    async [Symbol.asyncDispose]() {
      await waitForEnd("the stop", Promise.resolve(platforms[Symbol.asyncDispose]()));
      await bench[Symbol.asyncDispose]();
    },
  };
}

describe("platforms: a reload", () => {
  test("closes the old accounts before it opens the new ones, and tells that channels changed", async () => {
    const steps: string[] = [];
    const closed = Promise.withResolvers<void>();
    await using at = await world(async (_deps, _signal, config) => {
      const name = String(settingsIn(config));
      steps.push(`open ${name}`);
      const dispose = async (): Promise<void> => {
        steps.push(`closing ${name}`);
        if (name === "a") await closed.promise;
        steps.push(`closed ${name}`);
      };
      return [account(name, { [Symbol.asyncDispose]: dispose })];
    });
    await at.platforms.apply(on("a"));
    await at.bench.clock.advance(0);
    at.told.length = 0;
    const applied = at.platforms.apply(on("b"));
    await at.bench.clock.advance(0);
    expect([steps, at.platforms.webhook("/one/a")]).toEqual([["open a", "closing a"], null]);
    expect(at.platforms.channel("one")?.ready({ channel: "one", account: "a", chat: "1" })).toBe(false);
    closed.resolve();
    await waitForEnd("the reload", applied);
    await at.bench.clock.advance(0);
    expect(steps).toEqual(["open a", "closing a", "closed a", "open b"]);
    expect(at.told).toContain("channels");
    await at.platforms.apply(on(null));
    expect([steps.at(-1), at.platforms.channels(), at.platforms.health()]).toEqual(["closed b", [], []]);
  });

  test("during another one waits for it, and the last one counts", async () => {
    const opened: string[] = [];
    await using at = await world(async (_deps, _signal, config) => {
      opened.push(String(settingsIn(config)));
      return [account(String(settingsIn(config)))];
    });
    await waitForEnd("both", Promise.all([at.platforms.apply(on("a")), at.platforms.apply(on("b"))]));
    await at.bench.clock.advance(0);
    expect([opened.at(-1), at.platforms.health().map(({ detail }) => detail)]).toEqual(["b", ["b"]]);
  });

  test("is well again when a platform opens after trouble", async () => {
    let failures = 1;
    await using at = await world(async () => {
      if (failures-- > 0) throw new Error("no network");
      return [account("a")];
    });
    await at.platforms.apply(on("a"));
    await at.bench.clock.advance(0);
    expect(at.platforms.health()).toEqual([{ id: "one", ok: false, detail: "no network" }]);
    await at.bench.clock.advance(5_000);
    expect(at.platforms.health()).toEqual([{ id: "one", ok: true, detail: "a" }]);
    await at.platforms.apply(on(null));
    expect(at.bench.clock.pending()).toBe(0);
  });

  test.each(["opens", "waits to be tried again"])(
    "that turns a platform off while it %s ends that at once",
    async (when) => {
      await using at = await world(
        when === "opens"
          ? (_deps, signal) =>
              new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }))
          : () => Promise.reject(new Error("no network")),
      );
      await at.platforms.apply(on("a"));
      await at.bench.clock.advance(0);
      await waitForEnd("the reload", at.platforms.apply(on(null)));
      expect([at.platforms.health(), at.bench.clock.pending()]).toEqual([[], 0]);
    },
  );

  test("that the stop comes into is finished first, and what it opened is closed", async () => {
    const closed: string[] = [];
    const at = await world(async () => [account("a", { [Symbol.asyncDispose]: async () => void closed.push("a") })]);
    await at.platforms.apply(on("a"));
    await at.bench.clock.advance(0);
    void at.platforms.apply(on("b"));
    await at[Symbol.asyncDispose]();
    expect(closed.length).toBeGreaterThan(0);
    expect(at.platforms.channels()).toEqual([]);
  });
});

describe("a plugin's channel", () => {
  const pigeon = (name: string, more: Partial<OpenChannel> = {}): OpenChannel =>
    account(name, { id: "pigeon", ...more });

  async function plugins(open: (deps: PlatformDeps, signal: AbortSignal) => Promise<readonly OpenChannel[]>) {
    const bench = await channelBench();
    const platforms = createPlatforms(bench.deps, []);
    platforms.add({ id: "pigeon", open });
    await platforms.apply({} as Config);
    await bench.clock.advance(0);
    return { bench, platforms };
  }

  test("with two accounts of one name is refused, and both are closed again", async () => {
    const closed: string[] = [];
    const close = { [Symbol.asyncDispose]: async () => void closed.push("one") };
    const { platforms, bench } = await plugins(async () => [pigeon("a", close), pigeon("a", close)]);
    expect([platforms.health()[0]?.detail, closed]).toEqual(["it opened two accounts of one name", ["one", "one"]]);
    await platforms[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });

  test("is told by its signal that it is closed while it opens", async () => {
    let signal: AbortSignal = NEVER;
    const { platforms, bench } = await plugins(
      (_deps, until) => ((signal = until), new Promise<never>(() => undefined)),
    );
    await waitForEnd("the stop", Promise.resolve(platforms[Symbol.asyncDispose]()));
    expect(signal.aborted).toBe(true);
    await bench[Symbol.asyncDispose]();
  });

  test("tells reactions of its own people only", async () => {
    const given = Promise.withResolvers<PlatformDeps>();
    const { platforms, bench } = await plugins(async (deps) => (given.resolve(deps), [pigeon("a")]));
    const { door } = await given.promise;
    const reaction = (principal: string) =>
      ({
        address: { channel: "pigeon", account: "a", chat: "1" },
        sender: { principal, name: "" },
        scope: "dm",
        messageId: "1",
        how: "add",
        emoji: ["👍"],
      }) as never;
    await expect(door.react(reaction("telegram:user:1"))).rejects.toThrow("for nobody else");
    await door.react(reaction("pigeon:user:1"));
    expect(bench.reacted).toHaveLength(1);
    await platforms[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });
});

test("channel registry: a channel of the gateway itself is found before a platform of its name", () => {
  const registry = createChannelRegistry();
  const own = { id: "webchat", health: () => ({ ok: true, detail: "" }) } as unknown as Channel;
  registry.register(own);
  const platform = { ...own } as Channel;
  registry.registerPlatforms({
    channel: () => platform,
    health: () => [],
    accountOf: () => undefined,
    access: () => ({}),
  });
  expect([registry.get("webchat") === own, registry.get("telegram") === platform]).toEqual([true, true]);
});

test("switchboard: without an account nothing is refused to senders, nothing is given up, and nothing can be done", () => {
  const closed = createSwitchboard("telegram", [], "closed");
  expect([closed.canRefuse, closed.repeat, closed.ready(), closed.health()]).toEqual([
    false,
    "safe",
    false,
    { id: "telegram", ok: false, detail: "closed" } as never,
  ]);
  expect(
    ["react", "edit", "delete", "pin", "questions", "messages", "dedupeMs", "whenLost"].filter((key) => key in closed),
  ).toEqual([]);
});
