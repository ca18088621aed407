/** The audit log as a chain in a SQLite database: entries of every kind are linked, pruned and verified with the tool calls. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Store } from "../../contracts/store.ts";
import { AUDIT_KINDS } from "../../contracts/store/tool-calls.ts";
import { systemClock } from "../../kit/clock.ts";
import { systemIds } from "../../kit/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { AUDIT_CHANGES } from "../../testing/contracts/store/audit-contract.ts";
import { intent } from "../../testing/contracts/store/store-world.ts";
import { type TempHome, tempHome } from "../../testing/temp-home.ts";
import { openStore } from "../open.ts";
import { verifyAudit } from "./verify.ts";

const DEPS = { clock: systemClock, ids: systemIds, log: silentLog };

async function filled(): Promise<TempHome> {
  const home = await tempHome();
  await using store = await openStore(DEPS, { home: home.path });
  for (const [at, kind] of AUDIT_KINDS.entries()) {
    await AUDIT_CHANGES[kind](store);
    await store.toolCalls.intend({ ...intent(`c${at}`, "t1", true), at });
    await store.toolCalls.settle(`c${at}`, { status: "success", output: "x", ms: 1 });
  }
  return home;
}

describe("the audit log", () => {
  test("with entries of every kind between the calls is whole", async () => {
    await using home = await filled();
    const verdict = await verifyAudit(home.path);
    expect(verdict).toEqual({ kind: "intact", calls: 22, entries: 22, links: 66, findings: [] });
  });

  test.each([
    ...["kind = 'sign_in'", "at = 99", "actor = 'x'", "subject = 'x'", "detail = '{}'", "hash = 'x'", "seq = 99"],
  ])("that is changed in one entry (%s) is found out", async (change) => {
    await using home = await filled();
    {
      using db = new Database(join(home.path, "gateway.db"));
      db.exec(`update audit_entries set ${change} where kind = 'role.given'`);
    }
    const { kind, findings } = await verifyAudit(home.path);
    expect(kind).toBe("tampered");
    expect(findings.length).toBeGreaterThan(0);
  });

  test.each(AUDIT_KINDS)("without its entry %s is found out", async (kind) => {
    await using home = await filled();
    {
      using db = new Database(join(home.path, "gateway.db"));
      db.exec(`delete from audit_entries where kind = '${kind}'`);
    }
    expect((await verifyAudit(home.path)).findings[0]?.say).toContain("was taken away");
  });

  test("with two entries in each other's place is found out", async () => {
    await using home = await filled();
    {
      using db = new Database(join(home.path, "gateway.db"));
      db.exec("update audit_entries set seq = 100 where seq = 2; update audit_entries set seq = 2 where seq = 3");
      db.exec("update audit_entries set seq = 3 where seq = 100");
    }
    expect((await verifyAudit(home.path)).kind).toBe("tampered");
  });
});

describe("pruning", () => {
  const times = async (store: Store) => [
    (await store.toolCalls.list({}, { limit: 50 })).items.length,
    (await store.audit.list({ limit: 50 })).items.length,
  ];

  test("takes old calls and old entries away together, leaves young ones, and the rest verifies", async () => {
    await using home = await tempHome();
    await using store = await openStore(DEPS, { home: home.path });
    for (let at = 0; at < 6; at++) {
      await store.audit.note({ kind: "sign_in", at, actor: "operator", subject: `s${at}`, detail: {} });
      await store.toolCalls.intend({ ...intent(`c${at}`, "t1", true), at });
      await store.toolCalls.settle(`c${at}`, { status: "success", output: "x", ms: 1 });
    }
    while ((await store.toolCalls.prune(3)) > 0);
    expect(await times(store)).toEqual([3, 3]);
    expect(await verifyAudit(home.path)).toMatchObject({ kind: "intact", calls: 3, entries: 3 });
    while ((await store.toolCalls.prune(100)) > 0);
    expect(await times(store)).toEqual([0, 0]);
    expect((await verifyAudit(home.path)).kind).toBe("intact");
  });

  test.each([
    ["a young entry behind old calls", [0, 0, 50]],
    ["a young entry between old calls", [0, 50, 0]],
    ["old entries without calls", [-1, -1, -1]],
  ])("keeps the chain whole with %s", async (_what, ats) => {
    await using home = await tempHome();
    await using store = await openStore(DEPS, { home: home.path });
    for (const [n, at] of ats.entries()) {
      if (at >= 0) {
        await store.toolCalls.intend({ ...intent(`c${n}`, "t1", true), at: 0 });
        await store.toolCalls.settle(`c${n}`, { status: "success", output: "x", ms: 1 });
      }
      await store.audit.note({ kind: "sign_in", at: Math.max(0, at), actor: "operator", subject: `s${n}`, detail: {} });
    }
    while ((await store.toolCalls.prune(10)) > 0);
    const { items } = await store.audit.list({ limit: 50 });
    expect(items.filter(({ at }) => at === 50)).toHaveLength(ats.filter((at) => at === 50).length);
    if (!ats.includes(50)) expect(items).toEqual([]);
    expect((await verifyAudit(home.path)).kind).toBe("intact");
  });
});
