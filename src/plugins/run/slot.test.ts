/** The place of one plugin: what is wanted last counts, one step at a time, and each version is gone before the next one begins. */
import { expect, test } from "bun:test";
import type { GatewayPlugin } from "../../contracts/plugin.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import { pluginHouse } from "../../testing/worlds/plugin-house.ts";
import { NO_LOCATION } from "./source-location.ts";
import { createSlot, type Wanted } from "./slot.ts";

const ABOUT = { builtin: false, version: "1.0.0", folder: null, digest: null };

function world() {
  const house = pluginHouse();
  const steps: string[] = [];
  let changes = 0;
  const slot = createSlot({ ...house, hooks: house.hooks, changed: () => void changes++ }, house.services, "one");
  const run = (key: string, init: GatewayPlugin = () => undefined): Wanted => ({
    kind: "run",
    key,
    about: ABOUT,
    source: {
      id: "one",
      version: "1.0.0",
      config: {},
      folder: null,
      digest: null,
      storageFile: "/nowhere.json",
      location: NO_LOCATION,
      load: async () => (api) => {
        steps.push(`init ${key}`);
        api.registerService({ name: "s", start: async () => () => void steps.push(`stop ${key}`) });
        return init(api);
      },
    },
    cleanUp: async () => void steps.push(`clean up ${key}`),
  });
  const rest = (state: "available" | "disabled" | "failed", why: string | null = null): Wanted => ({
    kind: "stopped",
    state,
    about: ABOUT,
    why,
  });
  return { ...house, slot, steps, run, rest, changes: () => changes };
}

test("plugin slot: another version starts when the old one is stopped and cleaned up, and the same one stays", async () => {
  const at = world();
  await at.slot.want(at.run("a"));
  await at.slot.want(at.run("a"));
  await at.slot.want(at.run("b"));
  expect(at.steps).toEqual(["init a", "stop a", "clean up a", "init b"]);
  expect(at.slot.status()).toMatchObject({ state: "running", trouble: null });
});

test("plugin slot: each state is told, and one that is the same is not", async () => {
  const at = world();
  await at.slot.want(at.run("a"));
  expect(at.changes()).toBe(2); // loading, running
  at.slot.note("It is slow.");
  at.slot.note("It is slow.");
  expect([at.changes(), at.slot.status().trouble]).toEqual([3, "It is slow."]);
  await at.slot.want(at.rest("disabled"));
  expect([at.changes(), at.slot.status().state, at.slot.status().trouble]).toEqual([4, "disabled", null]);
});

test("plugin slot: a wish that comes during a start is met after it, and the one in between is not", async () => {
  const at = world();
  const begun = Promise.withResolvers<void>();
  const first = at.slot.want(at.run("a", () => begun.promise));
  const wishes = [at.slot.want(at.run("b")), at.slot.want(at.rest("disabled"))];
  begun.resolve();
  await waitForEnd("all wishes", Promise.all([first, ...wishes]));
  expect(at.steps).toEqual(["init a", "stop a", "clean up a"]);
  expect(at.slot.status().state).toBe("disabled");
  await at.slot.want(at.run("a"));
  expect(at.steps.at(-1)).toBe("init a"); // it was stopped meanwhile: the same version starts again
});

test("plugin slot: one that does not start is cleaned up, and not tried again before something changed", async () => {
  const at = world();
  const failing = (key: string) => at.run(key, () => Promise.reject(new Error("no key")));
  await at.slot.want(failing("a"));
  await at.slot.want(failing("a"));
  expect(at.steps).toEqual(["init a", "clean up a"]);
  expect(at.slot.status()).toMatchObject({ state: "failed", trouble: expect.stringContaining("no key") });
  await at.slot.want(at.run("b"));
  expect(at.slot.status()).toMatchObject({ state: "running", trouble: null });
});

test("plugin slot: why one does not start is told, also when its files cannot be removed", async () => {
  const at = world();
  const failing = at.run("a", () => Promise.reject(new Error("no key")));
  const cleanUp = () => Promise.reject(new Error("the disk is gone"));
  await at.slot.want({ ...failing, cleanUp } as Wanted);
  expect(at.slot.status()).toMatchObject({ state: "failed", trouble: expect.stringContaining("no key") });
});

test("plugin slot: one that misbehaved is stopped, cleaned up, and stays stopped until it changed", async () => {
  const at = world();
  await at.slot.want(at.run("a"));
  await at.slot.fail("It let an error escape.");
  expect([at.steps, at.slot.running]).toEqual([["init a", "stop a", "clean up a"], null]);
  expect(at.slot.status()).toMatchObject({ state: "failed", trouble: "It let an error escape." });
  await at.slot.want(at.run("a"));
  expect(at.slot.status().state).toBe("failed");
});

test("plugin slot: a stop is over when the service has stopped and the files are gone, also when that fails", async () => {
  const at = world();
  const ended = Promise.withResolvers<void>();
  const wanted = at.run("a", (api) => {
    api.registerService({ name: "slow", start: async () => () => ended.promise });
  });
  const files = () => Promise.reject(new Error("busy"));
  await at.slot.want({ ...wanted, cleanUp: files } as Wanted);
  let stopped = false;
  const stop = at.slot.want(at.rest("available")).then(() => (stopped = true));
  await at.clock.advance(0);
  expect([stopped, at.slot.running]).toEqual([false, null]);
  ended.resolve();
  await waitForEnd("the stop", stop);
  expect(at.log.lines.map(({ words }) => words)).toContain("a plugin left files behind");
  expect(at.clock.pending()).toBe(0);
});

test("plugin slot: what is decided by hooks waits while a version is replaced, and goes on also when the new one fails", async () => {
  const at = world();
  await at.slot.want(at.run("a", (api) => void api.registerHook("before_tool_call", () => undefined)));
  const begun = Promise.withResolvers<void>();
  const replaced = at.slot.want(at.run("b", () => begun.promise));
  await at.clock.advance(0);
  const deciding = at.hooks.deciding("before_tool_call");
  expect(deciding).toBeInstanceOf(Promise);
  begun.reject(new Error("no"));
  await waitForEnd("the replacement", replaced);
  expect(await waitForEnd("the hooks", Promise.resolve(deciding))).toEqual([]);
  expect(at.hooks.deciding("before_tool_call")).toEqual([]); // nothing is held any more
});
