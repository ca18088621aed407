/** The audit log covers every change of who may do what: each kind is written with its change, linked, listed, pruned and verified with the tool calls. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { Store } from "../../contracts/store.ts";
import { AUDIT_KINDS, type AuditKind } from "../../contracts/store/tool-calls.ts";
import { systemClock } from "../../kit/clock.ts";
import { systemIds } from "../../kit/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { intent } from "../../testing/contracts/store/store-world.ts";
import { type TempHome, tempHome } from "../../testing/temp-home.ts";
import { storedKey } from "../../testing/contracts/store/api-key-contract.ts";
import { openStore } from "../open.ts";
import { verifyAudit } from "./verify.ts";

const DEPS = { clock: systemClock, ids: systemIds, log: silentLog };
const ANN = "telegram:user:7" as Principal;
const OLGA = "operator" as Principal;
const SECRET = "s3cret-value-of-a-person";

const approval = {
  id: "ask1",
  hash: "h",
  tool: "bash",
  callId: SECRET,
  because: SECRET,
  input: { command: SECRET },
  sessionKey: "agent:default:main" as SessionKey,
  turnId: "t1" as TurnId,
  agentId: "default" as never,
  principal: ANN,
  role: "member" as const,
  askedAt: 10,
  expiresAt: 20,
};
const pairing = {
  id: "p1",
  channel: "telegram",
  account: "main",
  principal: ANN,
  name: SECRET,
  digest: SECRET,
  createdAt: 10,
  expiresAt: 9_999_999_999_999,
  decidedAt: null,
  decidedBy: null,
  state: "pending" as const,
};
const decided = { ...pairing, decidedAt: 11, decidedBy: OLGA };

/** What leaves an entry of each kind, in this order. */
const CHANGES: Readonly<Record<AuditKind, (store: Store) => Promise<unknown>>> = {
  "approval.asked": ({ approvals }) => approvals.put(approval),
  "approval.ended": ({ approvals }) => approvals.end("ask1", { decision: "once", by: OLGA, at: 12 }),
  "role.given": ({ roleGrants }) => roleGrants.put({ principal: ANN, role: "member", grantedBy: OLGA, at: 13 }),
  "role.removed": ({ roleGrants }) => roleGrants.remove(ANN, OLGA),
  "pairing.pending": ({ pairings }) => pairings.put(pairing),
  "pairing.approved": ({ pairings }) => pairings.put({ ...decided, state: "approved" }),
  "pairing.revoked": ({ pairings }) => pairings.put({ ...decided, state: "revoked" }),
  "config.reloaded": ({ audit }) =>
    audit.note({ kind: "config.reloaded", at: 14, actor: "gateway", subject: "", detail: { changed: ["roles"] } }),
  "config.rejected": ({ audit }) =>
    audit.note({ kind: "config.rejected", at: 15, actor: "gateway", subject: "", detail: {} }),
  sign_in: ({ signIns }) =>
    signIns.put({ digest: "d".repeat(64), principal: OLGA, createdAt: 16, expiresAt: 17, authDigest: SECRET }),
  sign_out: ({ signIns }) => signIns.remove("d".repeat(64)),
  "key.made": ({ apiKeys }) => apiKeys.put(storedKey("k1", { digest: SECRET })),
  "key.revoked": ({ apiKeys }) => apiKeys.remove("k1", OLGA),
  "network.opened": ({ audit }) =>
    audit.note({ kind: "network.opened", at: 18, actor: ANN, subject: "agent:default:main", detail: { port: 443 } }),
  "network.refused": ({ audit }) =>
    audit.note({ kind: "network.refused", at: 19, actor: ANN, subject: "agent:default:main", detail: { port: 22 } }),
};

async function filled(): Promise<TempHome> {
  const home = await tempHome();
  await using store = await openStore(DEPS, { home: home.path });
  for (const [at, kind] of AUDIT_KINDS.entries()) {
    await CHANGES[kind](store);
    await store.toolCalls.intend({ ...intent(`c${at}`, "t1", true), at });
    await store.toolCalls.settle(`c${at}`, { status: "success", output: "x", ms: 1 });
  }
  return home;
}

describe("the audit log", () => {
  test("has one entry for each kind of change, between the calls, and is whole", async () => {
    await using home = await filled();
    const verdict = await verifyAudit(home.path);
    expect(verdict).toEqual({ kind: "intact", calls: 15, entries: 15, links: 45, findings: [] });
    await using store = await openStore(DEPS, { home: home.path });
    const { items } = await store.audit.list({ limit: 50 });
    expect(items.map(({ kind }) => kind).toReversed()).toEqual([...AUDIT_KINDS]);
    expect(items.at(-2)).toMatchObject({
      kind: "approval.ended",
      actor: "operator",
      subject: "ask1",
      detail: { tool: "bash", decision: "once" },
    });
    expect(items.find(({ kind }) => kind === "pairing.approved")).toMatchObject({ actor: "operator", subject: ANN });
  });

  test("holds no secret, no words of people and no parameters", async () => {
    await using home = await filled();
    await using store = await openStore(DEPS, { home: home.path });
    const { items } = await store.audit.list({ limit: 50 });
    expect(JSON.stringify(items)).not.toContain(SECRET);
  });

  test("entries are listed page by page and by kind", async () => {
    await using home = await filled();
    await using store = await openStore(DEPS, { home: home.path });
    const first = await store.audit.list({ limit: 10 });
    const second = await store.audit.list({ limit: 10, cursor: first.next ?? "" });
    expect([first.items.length, second.items.map(({ kind }) => kind), second.next]).toEqual([
      10,
      ["pairing.pending", "role.removed", "role.given", "approval.ended", "approval.asked"],
      undefined,
    ]);
    const roles = await store.audit.list({ limit: 10 }, "role.given");
    expect(roles.items.map(({ subject }) => subject as string)).toEqual([ANN]);
  });

  test("tells of an approval that the last process left open, and of nothing that did not happen", async () => {
    await using home = await tempHome();
    {
      await using store = await openStore(DEPS, { home: home.path });
      await store.approvals.put(approval);
      await store.roleGrants.remove(ANN, OLGA);
      await store.approvals.end("nothing", { decision: "once", by: OLGA, at: 1 });
      await store.signIns.remove("nobody");
    }
    await using store = await openStore(DEPS, { home: home.path });
    const { items } = await store.audit.list({ limit: 5 });
    expect(items.map(({ kind, actor, detail }) => [kind, actor, detail["decision"]])).toEqual([
      ["approval.ended", "gateway", "expired"],
      ["approval.asked", ANN, undefined],
    ]);
    expect((await verifyAudit(home.path)).kind).toBe("intact");
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
