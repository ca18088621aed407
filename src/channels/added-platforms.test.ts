/** Platforms that plugins add and take away while others come and go by the configuration. */
import { expect, test } from "bun:test";
import type { Config } from "../config/index.ts";
import type { OpenChannel } from "../contracts/channels/platform.ts";
import { deferred } from "../kit/deferred.ts";
import { channelBench } from "../testing/channels/channel-bench.ts";
import { waitForEnd } from "../testing/wait-for.ts";
import { createPlatforms, type PlatformEntry } from "./open-platforms.ts";

const config = (on: string | null): Config => ({ on }) as unknown as Config;

/** One platform of the configuration, called "one", and whatever plugins add. */
async function world() {
  const bench = await channelBench();
  const seen: string[] = [];
  const state = { closing: Promise.resolve() };
  const channel = (id: string, account: string): OpenChannel => ({
    id,
    account,
    canRefuse: false,
    repeat: "risky",
    send: async () => ({}),
    ready: () => true,
    health: () => ({ ok: true, detail: "" }),
    async [Symbol.asyncDispose]() {
      await state.closing;
      seen.push(`close ${id} ${account}`);
    },
  });
  const opened = (id: string, account: string): readonly OpenChannel[] => {
    seen.push(`open ${id} ${account}`);
    return [channel(id, account)];
  };
  const settings = (from: Config) => (from as unknown as { on: string | null }).on;
  const entry: PlatformEntry = {
    id: "one",
    settings,
    load: async (from) => ({ id: "one", open: async () => opened("one", settings(from) ?? "") }),
  };
  const platforms = createPlatforms(bench.deps, [entry], { isTaken: (id) => id === "webchat" });
  const plugin = (id: string, account = "main") => ({ id, open: async () => opened(id, account) });
  const settle = async (): Promise<string[]> => {
    await bench.clock.advance(0);
    return seen.splice(0);
  };
  return {
    bench,
    platforms,
    plugin,
    settle,
    state,
    async [Symbol.asyncDispose]() {
      await platforms[Symbol.asyncDispose]();
      await bench[Symbol.asyncDispose]();
    },
  };
}

test("a platform that is added opens after the first configuration, and leaves those of the newest one as they are", async () => {
  await using w = await world();
  const added = w.platforms.add(w.plugin("parlour"));
  expect([await w.settle(), w.platforms.channel("parlour")]).toEqual([[], undefined]);
  await w.platforms.apply(config("a"));
  expect(await w.settle()).toEqual(["open one a", "open parlour main"]);
  await w.platforms.apply(config("b"));
  expect(await w.settle()).toEqual(["close one a", "open one b"]);
  w.platforms.add(w.plugin("salon"));
  expect(await w.settle()).toEqual(["open salon main"]);
  await added[Symbol.asyncDispose]();
  expect([await w.settle(), w.platforms.channels().map(({ id }) => id)]).toEqual([
    ["close parlour main"],
    ["one", "salon"],
  ]);
});

test("a platform that is taken away is gone when its accounts are closed, and not before", async () => {
  await using w = await world();
  await w.platforms.apply(config(null));
  const added = w.platforms.add(w.plugin("parlour"));
  await w.settle();
  const closing = deferred<void>();
  w.state.closing = closing.promise;
  let gone = false;
  const going = Promise.resolve(added[Symbol.asyncDispose]()).then(() => (gone = true));
  await w.settle();
  expect([gone, w.platforms.access()]).toEqual([false, {}]);
  closing.resolve();
  await waitForEnd("the end of the platform", going);
  expect(await w.settle()).toEqual(["close parlour main"]);
});

test("a platform that comes back is opened anew, and the end of what was there before does not take it along", async () => {
  await using w = await world();
  await w.platforms.apply(config(null));
  const first = w.platforms.add(w.plugin("parlour", "first"));
  await w.settle();
  await first[Symbol.asyncDispose]();
  w.platforms.add(w.plugin("parlour", "second"));
  expect(await w.settle()).toEqual(["close parlour first", "open parlour second"]);
  await first[Symbol.asyncDispose]();
  expect([await w.settle(), w.platforms.channel("parlour")?.health().ok]).toEqual([[], true]);
});

test("a platform that is replaced in one moment is opened anew, because its settings are new", async () => {
  await using w = await world();
  await w.platforms.apply(config(null));
  const first = w.platforms.add(w.plugin("parlour", "first"));
  await w.settle();
  const going = first[Symbol.asyncDispose]();
  w.platforms.add(w.plugin("parlour", "second"));
  await going;
  expect((await w.settle()).at(-1)).toBe("open parlour second");
});

test("an id that is somebody's is refused: of the configuration, of the gateway itself, and of another plugin", async () => {
  await using w = await world();
  w.platforms.add(w.plugin("parlour"));
  for (const id of ["one", "webchat", "parlour"]) expect(() => w.platforms.add(w.plugin(id))).toThrow("already");
});

test("a configuration that comes after the stop, or a plugin that goes then, opens nothing again", async () => {
  const w = await world();
  const added = w.platforms.add(w.plugin("parlour"));
  await w.platforms.apply(config("a"));
  await w.settle();
  await w.platforms[Symbol.asyncDispose]();
  expect((await w.settle()).toSorted()).toEqual(["close one a", "close parlour main"]);
  await w.platforms.apply(config("b"));
  await added[Symbol.asyncDispose]();
  expect([await w.settle(), w.platforms.channels()]).toEqual([[], []]);
  await w.bench[Symbol.asyncDispose]();
});
