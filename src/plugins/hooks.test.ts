/** Where plugins look in: who is told, who is waited for, and that nothing slips past a check while its plugin is replaced. */
import { describe, expect, test } from "bun:test";
import type { GatewayPlugin } from "../contracts/plugin.ts";
import { deferred } from "../kit/deferred.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { pluginHouse } from "../testing/worlds/plugin-house.ts";
import { createHooks } from "./hooks.ts";
import { NO_LOCATION } from "./run/source-location.ts";
import { createSlot, type Wanted } from "./run/slot.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("hooks", () => {
  test("of a plugin that is being replaced are waited for by whoever they decide on, and by nobody else", async () => {
    const hooks = createHooks({ clock: createFakeClock(), log: recordingLog() });
    const answer = (text: string) => () => ({ text });
    const old = hooks.on("message_sending", answer("old"), "guard");
    const kept = hooks.on("tool_result_persist", () => undefined, "other");
    const held = hooks.hold("guard");
    old[Symbol.dispose]();
    expect(await hooks.deciding("before_tool_call")).toEqual([]); // it did not look in there
    expect(await hooks.deciding("tool_result_persist")).toHaveLength(1);
    const seen: string[] = [];
    const asked = Promise.resolve(hooks.deciding("message_sending")).then((all) => {
      for (const { plugin } of all) seen.push(plugin);
      seen.push(`${all.length}`);
    });
    await turn();
    expect(seen).toEqual([]);
    hooks.on("message_sending", answer("new"), "guard");
    held[Symbol.dispose]();
    await asked;
    expect(seen).toEqual(["guard", "1"]);
    kept[Symbol.dispose]();
  });

  test("decide on every call while their plugin is reloaded, however long that takes", async () => {
    const { clock, log, hooks, services } = pluginHouse();
    const slot = createSlot({ clock, log, hooks, changed: () => undefined }, services, "guard");
    const about = { builtin: false, version: "1.0.0", folder: null, digest: null };
    const version = (key: string, load: () => Promise<GatewayPlugin>): Wanted => ({
      kind: "run",
      key,
      about,
      cleanUp: async () => undefined,
      source: {
        id: "guard",
        version: "1",
        config: {},
        folder: null,
        digest: null,
        storageFile: "/nowhere.json",
        location: NO_LOCATION,
        load,
      },
    });
    const says = (block: string): GatewayPlugin => {
      return (api) => {
        api.registerHook("before_tool_call", () => ({ block }));
      };
    };
    await slot.want(version("1", async () => says("old")));
    const loading = deferred<GatewayPlugin>();
    const replaced = slot.want(version("2", () => loading.promise));
    await turn();
    const waiting = Promise.resolve(hooks.deciding("before_tool_call"));
    loading.resolve(says("new"));
    await replaced;
    const [guard] = await waiting;
    expect(guard?.handler({} as never, new AbortController().signal)).toEqual({ block: "new" });
    const broken = slot.want(version("3", async () => Promise.reject(new Error("no such thing"))));
    const after = Promise.resolve(hooks.deciding("before_tool_call"));
    await broken;
    expect(await after).toEqual([]); // a plugin that does not run checks nothing; the status says so
    expect(slot.status()).toMatchObject({ state: "failed", trouble: "It failed: no such thing" });
  });

  test("that observe are told in the order of registration and not waited for; one that fails disturbs no other", async () => {
    const clock = createFakeClock();
    const hooks = createHooks({ clock, log: recordingLog() });
    const heard: string[] = [];
    const troubles: string[] = [];
    hooks.onTrouble((plugin, sentence) => troubles.push(`${plugin}: ${sentence}`));
    hooks.on(
      "gateway_start",
      () => {
        throw new Error("bad day");
      },
      "one",
    );
    hooks.on("gateway_start", () => new Promise(() => undefined), "two");
    const third = hooks.on("gateway_start", ({ version }) => void heard.push(version), "three");
    hooks.tell("gateway_start", { version: "1" });
    await turn();
    await clock.advance(15_000);
    expect(heard).toEqual(["1"]);
    expect(troubles).toEqual([
      "one: Its hook gateway_start failed: bad day",
      "two: Its hook gateway_start failed: it did not end within 15000 ms",
    ]);
    expect(hooks.of("gateway_start").map(({ plugin }) => plugin)).toEqual(["one", "two", "three"]);
    third[Symbol.dispose]();
    expect(hooks.of("gateway_start").length).toBe(2);
  });
});

test("a hook that observes has fifteen seconds, not less, and hears by its signal when they are over", async () => {
  const clock = createFakeClock();
  const hooks = createHooks({ clock, log: recordingLog() });
  const troubles: string[] = [];
  hooks.onTrouble((plugin) => void troubles.push(plugin));
  const given: AbortSignal[] = [];
  hooks.on("gateway_start", (_event, signal) => (given.push(signal), new Promise(() => undefined)), "slow");
  hooks.tell("gateway_start", { version: "1" });
  await clock.advance(14_999);
  expect([troubles, given.map(({ aborted }) => aborted)]).toEqual([[], [false]]);
  await clock.advance(1);
  await turn();
  expect([troubles, given.map(({ aborted }) => aborted), clock.pending()]).toEqual([["slow"], [true], 0]);
});
