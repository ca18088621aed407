/** The operator's token over several starts: which one is in force, and what the database knows of it. */
import { expect, test } from "bun:test";
import { checkConfigText } from "../config/index.ts";
import type { SharedMemory } from "../contracts/nodes.ts";
import { systemIds } from "../kit/ids.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { systemClock } from "../kit/clock.ts";
import { tempHome } from "../testing/temp-home.ts";
import type { Core } from "./core.ts";
import { openOperatorToken } from "./operator-token.ts";

const KEPT = ["gateway:operator", "token", "sealed"] as const;

/** Gateways on one database, each with a state directory of its own. */
async function world(settings: object = {}) {
  const real = await realStore(systemClock);
  const { config } = checkConfigText(JSON.stringify(settings), () => undefined);
  if (!config) throw new Error("not valid");
  const reloads: (() => Promise<void>)[] = [];
  const agree = async (): Promise<void> => void (await Promise.all(reloads.map((reload) => reload())));
  const log = recordingLog();
  const open = async (home: string, several = true) => {
    const nodes = {
      others: { agree },
      onReload: (_what: SharedMemory, reload: () => Promise<void>) => void reloads.push(reload),
    };
    const token = await openOperatorToken({
      ids: systemIds,
      log,
      store: { ...real.store, nodes: { ...real.store.nodes, several } },
      config: () => config,
      options: { home },
      secrets: { hide: () => undefined },
      nodes,
    } as unknown as Core);
    return { ...token, now: () => token.of(config).reveal() };
  };
  return { open, log, facts: real.store.channelState, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

/** State directories with the same keys, as gateways on one database have them. */
async function sameKeys() {
  const [one, two] = [await tempHome(), await tempHome()];
  const key = systemIds.secret(32);
  for (const { path } of [one, two]) await Bun.write(`${path}/media.key`, key, { mode: 0o600 });
  return { one, two };
}

test("a new token is in force at every gateway when it is said to be, and at one that starts later; the database does not show it", async () => {
  await using database = await world();
  const homes = await sameKeys();
  await using one = homes.one;
  await using two = homes.two;
  const [first, second] = [await database.open(one.path), await database.open(two.path)];
  let told = 0;
  second.onChange(() => void told++);
  const rotation = await first.rotate();
  expect([rotation.kind, second.now() === first.now()]).toEqual(["rotated", false]);
  if (rotation.kind === "rotated") await rotation.spread();
  expect([second.now(), told]).toEqual([first.now(), 1]);
  expect((await Bun.file(`${two.path}/token`).text()).trim()).toBe(first.now());
  expect(await database.facts.get(...KEPT)).not.toContain(first.now());
  await Bun.write(`${two.path}/token`, "the-one-from-before-7f3kQ9");
  expect((await database.open(two.path)).now()).toBe(first.now());
});

test("a token that was sealed with another key is left alone, with a line in the log", async () => {
  await using database = await world();
  await using one = await tempHome();
  await using two = await tempHome();
  const first = await database.open(one.path);
  await first.rotate();
  const second = await database.open(two.path);
  expect(second.now()).not.toBe(first.now());
  expect(database.log.lines.some(({ words }) => words.includes("media.key is another one there"))).toBe(true);
});

test("a gateway that has its database alone keeps its token in a file, and forgets the one of a time with others", async () => {
  await using database = await world();
  await using home = await tempHome();
  await (await database.open(home.path)).rotate();
  expect(await database.facts.get(...KEPT)).not.toBeNull();
  const alone = await database.open(home.path, false);
  expect(await database.facts.get(...KEPT)).toBeNull();
  const before = alone.now();
  await alone.rotate();
  expect([alone.now() === before, await database.facts.get(...KEPT)]).toEqual([false, null]);
});

test("a token of the configuration is not replaced, neither here nor by another gateway", async () => {
  const token = "one-of-my-own-7f3kQ9xZpW4nYb";
  await using database = await world({ gateway: { auth: { token } } });
  await using home = await tempHome();
  await database.facts.put(...KEPT, "sealed elsewhere");
  const gateway = await database.open(home.path);
  expect([(await gateway.rotate()).kind, gateway.now()]).toEqual(["configured", token]);
});
