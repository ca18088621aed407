/**
 * What every store promises about the audit log besides tool calls: every change of who may do what leaves one entry, which is on the disk
 * when the change is, and holds no words of people.
 */
import { describe, expect, test } from "bun:test";
import type { Principal, SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import { AUDIT_KINDS, type AuditKind, type NewAuditEntry } from "../../../contracts/store/tool-calls.ts";
import { storedKey } from "./api-key-contract.ts";
import { newSubscription } from "./push-subscription-contract.ts";
import { storedRule } from "./approval-rule-contract.ts";
import { end, row, type StoreWorld, turn } from "./store-world.ts";

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
export const AUDIT_CHANGES: Readonly<Record<AuditKind, (store: Store) => Promise<unknown>>> = {
  "approval.asked": ({ approvals }) => approvals.put(approval),
  "approval.ended": ({ approvals }) =>
    approvals.endWithRule("ask1", storedRule("rule1", { shown: SECRET, because: SECRET, madeBy: OLGA, madeAt: 12 }), 9),
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
    signIns.put({
      digest: "d".repeat(64),
      principal: OLGA,
      createdAt: 16,
      expiresAt: 17,
      authDigest: SECRET,
      browser: null,
    }),
  sign_out: ({ signIns }) => signIns.remove("d".repeat(64)),
  "key.made": ({ apiKeys }) => apiKeys.put(storedKey("k1", { digest: SECRET })),
  "key.revoked": ({ apiKeys }) => apiKeys.remove("k1", OLGA),
  "network.opened": ({ audit }) =>
    audit.note({ kind: "network.opened", at: 18, actor: ANN, subject: "agent:default:main", detail: { port: 443 } }),
  "network.refused": ({ audit }) =>
    audit.note({ kind: "network.refused", at: 19, actor: ANN, subject: "agent:default:main", detail: { port: 22 } }),
  "session.deleted": ({ audit }) =>
    audit.note({
      kind: "session.deleted",
      at: 20,
      actor: OLGA,
      subject: "agent:default:main",
      detail: { messages: 2 },
    }),
  "token.rotated": ({ audit }) =>
    audit.note({ kind: "token.rotated", at: 21, actor: OLGA, subject: "", detail: { browsers: "signed out" } }),
  "notifications.on": ({ pushSubscriptions }) => pushSubscriptions.put(newSubscription("s1", { auth: SECRET }), 9),
  "notifications.off": ({ pushSubscriptions }) => pushSubscriptions.remove("s1", OLGA),
  "rule.used": ({ approvalRules }) =>
    approvalRules.use("rule1", { at: 22, callId: "c1", callHash: "h", sessionKey: approval.sessionKey }),
  "rule.removed": ({ approvalRules }) => approvalRules.remove("rule1", OLGA, 23),
  "reply.retried": async ({ inbox, turns, outbox }) => {
    await inbox.accept(row("in1", "a", { text: SECRET }));
    await turns.begin(turn("t1", "a", ["in1"]));
    await turns.finish(end("t1", { reply: [{ part: 0, message: { text: SECRET, kind: "reply" } }] }));
    await outbox.settle("t1:0", { state: "dead", because: SECRET }, 24);
    return outbox.retry("t1:0", { by: OLGA, mayRepeat: false }, 25);
  },
};

const entry = (at: number, more: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  kind: "config.reloaded",
  at,
  actor: "gateway",
  subject: "",
  detail: { changed: ["queue.ttlMs"] },
  ...more,
});

export function auditContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    test("an entry is there after a restart, as it was noted", async () => {
      await using world = await open();
      await world.store.audit.note(entry(1));
      const { audit } = await world.reopen();
      expect((await audit.list({ limit: 9 })).items).toMatchObject([entry(1)]);
    });

    test("each kind of change leaves one entry, without secrets, words of people and parameters", async () => {
      await using world = await open();
      for (const kind of AUDIT_KINDS) await AUDIT_CHANGES[kind](world.store);
      const { items } = await (await world.reopen()).audit.list({ limit: 50 });
      expect(items.map(({ kind }) => kind).toReversed()).toEqual([...AUDIT_KINDS]);
      expect(JSON.stringify(items)).not.toContain(SECRET);
      expect(items.at(-2)).toMatchObject({
        actor: OLGA,
        subject: "ask1",
        detail: { tool: "bash", decision: "always", rule: "rule1" },
      });
      expect(items.find(({ kind }) => kind === "pairing.approved")).toMatchObject({ actor: OLGA, subject: ANN });
    });

    test("an approval that a previous process left open has expired, and what did not happen leaves no entry", async () => {
      await using world = await open();
      const { approvals, roleGrants, signIns } = world.store;
      await approvals.put(approval);
      await roleGrants.remove(ANN, OLGA);
      await approvals.end("nothing", { decision: "once", by: OLGA, at: 1 });
      await signIns.remove("nobody");
      const { items } = await (await world.reopen()).audit.list({ limit: 5 });
      expect(items.map(({ kind, actor, detail }) => [kind, actor, detail["decision"]])).toEqual([
        ["approval.ended", "gateway", "expired"],
        ["approval.asked", ANN, undefined],
      ]);
    });

    test("entries are listed latest first, by kind and page by page", async () => {
      await using world = await open();
      const { audit } = world.store;
      for (const at of [1, 2, 3]) await audit.note(entry(at));
      await audit.note(entry(4, { kind: "sign_in", actor: "operator", detail: {} }));
      const first = await audit.list({ limit: 2 }, "config.reloaded");
      expect(first.items.map(({ at }) => at)).toEqual([3, 2]);
      const rest = await audit.list({ limit: 2, ...(first.next ? { cursor: first.next } : {}) }, "config.reloaded");
      expect(rest.items.map(({ at }) => at)).toEqual([1]);
      expect((await audit.list({ limit: 9 }, "sign_in")).items).toMatchObject([{ at: 4, actor: "operator" }]);
    });
  });
}
