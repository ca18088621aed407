import { describe, expect, test } from "bun:test";
import { keyPrincipal, type KeyRights, type NewApiKey } from "../../contracts/api-keys.ts";
import { OPERATOR, type Principal } from "../../contracts/ids.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { realStore } from "../../testing/real-store.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { openApiKeys } from "./api-keys.ts";
import { refusedBecause } from "./decide-key.ts";

const FREE: NewApiKey = {
  name: "a program",
  scopes: ["chat"],
  agents: ["*"],
  tools: ["*"],
  dailyUsd: null,
  dailyTokens: null,
  requestsPerMinute: null,
  expiresAt: null,
};
const BY = { principal: OPERATOR, key: null };

async function world() {
  const clock = createFakeClock();
  const real = await realStore(clock);
  const changes: number[] = [];
  const spread: number[] = [];
  const ids = createSeqIds();
  const open = (store = real.store) =>
    openApiKeys({
      clock,
      ids,
      log: recordingLog(),
      store: store.apiKeys,
      changed: () => void changes.push(clock.now()),
      spread: async () => void spread.push((await real.store.apiKeys.list()).length),
    });
  const make = async (keys: Awaited<ReturnType<typeof open>>, more: Partial<NewApiKey> = {}) => {
    const made = await keys.make({ ...FREE, ...more }, BY);
    if (made.kind === "refused") throw new Error(made.say);
    return made;
  };
  return { clock, real, changes, open, make, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

describe("a key", () => {
  test("is found by its secret after a restart, although the store holds only a digest", async () => {
    await using at = await world();
    const { key, secret } = await at.make(await at.open());
    expect(JSON.stringify(await at.real.store.apiKeys.list())).not.toContain(secret);
    const again = await at.open(await at.real.reopen());
    expect(again.find(secret)).toEqual(key);
    expect(again.find(`${secret}x`)).toBeNull();
    expect(again.of(keyPrincipal(key.id))).toEqual(key);
  });

  test("is unknown from the moment it is revoked, and ends what runs in its name", async () => {
    await using at = await world();
    const keys = await at.open();
    const { key, secret } = await at.make(keys);
    const ending = keys.ending(key.id);
    expect(ending.aborted).toBe(false);
    expect([await keys.revoke(key.id, OPERATOR), await keys.revoke(key.id, OPERATOR)]).toEqual([true, false]);
    expect([ending.aborted, keys.find(secret), keys.of(keyPrincipal(key.id)), keys.ending(key.id).aborted]).toEqual([
      true,
      null,
      null,
      true,
    ]);
    expect(at.changes).toHaveLength(2);
    expect((await at.open(await at.real.reopen())).list()).toEqual([]);
  });

  test("is unknown at once, also when the store cannot write that it was revoked", async () => {
    await using at = await world();
    const keys = await at.open();
    const { key, secret } = await at.make(keys);
    await at.real.store[Symbol.asyncDispose]();
    await expect(keys.revoke(key.id, OPERATOR)).rejects.toThrow();
    expect([keys.find(secret), keys.ending(key.id).aborted]).toEqual([null, true]);
  });

  test("ends by itself when its time is over, also days later", async () => {
    await using at = await world();
    const keys = await at.open();
    const days = 3 * 86_400_000;
    const { key, secret } = await at.make(keys, { expiresAt: at.clock.now() + days });
    await at.make(keys);
    const ending = keys.ending(key.id);
    await at.clock.advance(days - 1);
    expect([ending.aborted, keys.find(secret)?.id, at.changes.length]).toEqual([false, key.id, 2]);
    await at.clock.advance(1);
    expect([ending.aborted, keys.find(secret), keys.list().length, at.changes.length]).toEqual([true, null, 2, 3]);
    await keys[Symbol.asyncDispose]();
    expect(at.clock.pending()).toBe(0);
  });

  test("has an id that no person has: only ids of keys find one", async () => {
    await using at = await world();
    const keys = await at.open();
    const { key } = await at.make(keys);
    for (const principal of [OPERATOR, `telegram:user:${key.id}`, key.id, "key:user:"])
      expect(keys.of(principal as Principal)).toBeNull();
  });
});

describe("a key that makes another", () => {
  const OWN: KeyRights = {
    scopes: ["admin"],
    agents: ["helper"],
    tools: ["notes_*", "echo"],
    dailyUsd: 1,
    dailyTokens: 100,
    requestsPerMinute: 10,
    expiresAt: 1_000,
  };
  const less: NewApiKey = { ...OWN, name: "less" };

  test.each<[string, Partial<NewApiKey>, string | null]>([
    ["the same", {}, null],
    ["less of everything", { scopes: ["chat"], tools: ["notes_save", "notes_s*"], dailyUsd: 0.5, expiresAt: 10 }, null],
    ["no tools at all", { tools: [] }, null],
    ["another agent", { agents: ["helper", "default"] }, "the agent default"],
    ["all agents", { agents: ["*"] }, "the agent *"],
    ["another tool", { tools: ["bash"] }, "the tool bash"],
    ["a wider pattern", { tools: ["note*"] }, "the tool note*"],
    ["a pattern around one tool", { tools: ["echo*"] }, "the tool echo*"],
    ["more money", { dailyUsd: 1.01 }, "a budget above its own in US dollars"],
    ["no limit in money", { dailyUsd: null }, "a budget above its own in US dollars"],
    ["no limit in tokens", { dailyTokens: null }, "a budget above its own in tokens"],
    ["more requests", { requestsPerMinute: 11 }, "more requests a minute than its own"],
    ["a later end", { expiresAt: 1_001 }, "a later end than its own"],
    ["no end", { expiresAt: null }, "a later end than its own"],
  ])("with %s", (_what, more, refused) => {
    const said = refusedBecause({ ...less, ...more }, OWN, 0);
    if (refused === null) expect(said).toBeNull();
    else expect(said).toContain(refused);
  });

  test("gives no scope that it has not, unless it is an administrator's", () => {
    const reading: KeyRights = { ...OWN, scopes: ["read"] };
    expect(refusedBecause({ ...less, scopes: ["read"] }, reading, 0)).toBeNull();
    expect(refusedBecause({ ...less, scopes: ["chat"] }, reading, 0)).toContain("the scope chat");
  });
});
