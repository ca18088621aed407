/** Pairing: what a stranger gets, what an owner can do, and what is never done. */
import { describe, expect, test } from "bun:test";
import type { Principal } from "../../contracts/ids.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { realStore } from "../../testing/real-store.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { openRoleGrants } from "../grants.ts";
import { codeDigest, newCode, readCode } from "./codes.ts";
import { MAX_WRONG_CODES, UNDO_MS, WRONG_CODES_MS } from "./decisions.ts";
import { CODE_TTL_MS, MAX_PENDING, openPairing } from "./pairing.ts";

const OLGA = "operator" as Principal;

async function world(owners: readonly string[] = []) {
  const clock = createFakeClock();
  const real = await realStore(clock);
  const log = recordingLog();
  const ids = createSeqIds();
  const told: string[] = [];
  const changes = {
    changed: () => void told.push("changed"),
    spread: async () => void told.push(`spread ${(await real.store.pairings.list()).length}`),
  };
  const open = async () => {
    const grants = await openRoleGrants(real.store.roleGrants);
    const deps = { clock, ids, log, ...changes, store: real.store.pairings, grants };
    return { grants, pairing: await openPairing({ ...deps, roles: () => ({ owners, members: [] }) }) };
  };
  const opened = await open();
  const person = (number: number, account = "main") => ({
    principal: `telegram:user:${number}` as Principal,
    name: `N${number}`,
    channel: "telegram",
    account,
  });
  const end = () => real[Symbol.asyncDispose]();
  return { clock, real, log, told, open, ...opened, person, [Symbol.asyncDispose]: end };
}

const idOf = (w: Awaited<ReturnType<typeof world>>, number: number): string =>
  w.pairing.list().find(({ principal }) => principal === w.person(number).principal)?.id ?? "";
const codeIn = (words: string | null): string => /[A-Z2-9]{8}$/.exec(words ?? "")?.[0] ?? "";

describe("a pairing code", () => {
  test("is eight characters that nobody mistakes, and is read as people write it", () => {
    const ids = createSeqIds();
    const codes = Array.from({ length: 500 }, () => newCode(ids));
    expect(codes.every((code) => /^[ABCDEFGHJKLMNPQRSTUVWXYZ23456789]{8}$/.test(code))).toBe(true);
    expect(new Set(codes).size).toBe(500);
    expect(readCode(" abcd-2345 ")).toBe("ABCD2345");
    for (const wrong of ["", "ABCD234", "ABCD23456", "ABCD2340", "ABCD234I"]) expect(readCode(wrong)).toBeNull();
  });

  test("is given once an hour, and only its digest is kept", async () => {
    await using w = await world();
    const words = await w.pairing.ask(w.person(1));
    const code = codeIn(words);
    expect(code).toHaveLength(8);
    expect(await w.pairing.ask(w.person(1))).toBeNull();
    expect(JSON.stringify(await w.real.store.pairings.list())).not.toContain(code);
    expect(JSON.stringify(w.log.lines)).not.toContain(code);
    await w.clock.advance(CODE_TTL_MS);
    expect((await w.pairing.approve({ code: code, role: "member" }, OLGA)).kind).toBe("unknown");
    expect(codeIn(await w.pairing.ask(w.person(1)))).not.toBe(code);
    expect((await w.pairing.approve({ code: code, role: "member" }, OLGA)).kind).toBe("unknown");
  });

  test("is given to three of an account at a time, each told the same words", async () => {
    await using w = await world();
    const texts = await Promise.all([1, 2, 3, 4, 5].map((number) => w.pairing.ask(w.person(number))));
    expect(texts.filter((text) => text !== null)).toHaveLength(MAX_PENDING);
    expect(new Set(texts.filter((text) => text !== null).map((text) => text.replace(codeIn(text), "")))).toHaveProperty(
      "size",
      1,
    );
    expect(await w.pairing.ask(w.person(6, "second"))).not.toBeNull();
  });

  test("lets in exactly whom it was given to, there and nowhere else, over a restart", async () => {
    await using w = await world();
    const code = codeIn(await w.pairing.ask(w.person(1)));
    const approval = await w.pairing.approve({ code: code.toLowerCase(), role: "member" }, OLGA);
    expect(approval).toMatchObject({ kind: "approved", person: { principal: "telegram:user:1" } });
    const again = await w.open();
    const paired = (number: number, account = "main") =>
      again.pairing.isPaired(w.person(number).principal, "telegram", account);
    expect([paired(1), paired(11), paired(1, "second")]).toEqual([true, false, false]);
    expect(again.pairing.isPaired("discord:user:1" as Principal, "discord", "main")).toBe(false);
  });

  test("is worth nothing to whoever is no person, and nothing after a no", async () => {
    await using w = await world();
    for (const principal of ["telegram:group:1", "Eve", "operator", ""])
      expect(await w.pairing.ask({ ...w.person(1), principal: principal as Principal })).toBeNull();
    const code = codeIn(await w.pairing.ask(w.person(1)));
    expect(await w.pairing.revoke(code, OLGA)).toBe(true);
    expect(await w.pairing.ask(w.person(1))).toBeNull();
    expect((await w.pairing.approve({ code: code, role: "member" }, OLGA)).kind).toBe("unknown");
    expect(w.pairing.list()).toEqual([]);
  });

  test.each(["", "AAAAAAAA", "pair_999999", "' or 1=1", "ABCD2345".repeat(1_000)])(
    "that was made up lets nobody in: %s",
    async (code) => {
      await using w = await world();
      await w.pairing.ask(w.person(1));
      expect(await w.pairing.approve({ code: code, role: "member" }, OLGA)).toEqual({ kind: "unknown" });
    },
  );
});

describe("a person who waits", () => {
  test("is not paired before an owner has approved them, nor after a no", async () => {
    await using w = await world();
    await w.pairing.ask(w.person(1));
    const paired = () => w.pairing.isPaired(w.person(1).principal, "telegram", "main");
    expect(paired()).toBe(false);
    await w.pairing.revoke(idOf(w, 1), OLGA);
    expect(paired()).toBe(false);
  });

  test("is shown with a short name on one line, whatever they call themselves", async () => {
    await using w = await world();
    await w.pairing.ask({ ...w.person(1), name: `\u202eEve\n\u001b[2J${"x".repeat(200)}` });
    const name = w.pairing.list()[0]?.name ?? "";
    expect(name).toMatch(/^Eve {2}\[2Jx+$/);
    expect(name.length).toBeLessThanOrEqual(80);
  });

  test("is forgotten with their hour: nothing of the entry is left when the next stranger comes", async () => {
    await using w = await world();
    await w.pairing.ask(w.person(1));
    const old = idOf(w, 1);
    await w.clock.advance(CODE_TTL_MS);
    await w.pairing.ask(w.person(2));
    expect(await w.pairing.revoke(old, OLGA)).toBe(false);
    expect(await w.real.store.pairings.list()).toHaveLength(1);
  });

  test("hears nothing for an hour after a no, also when their first hour is over", async () => {
    await using w = await world();
    await w.pairing.ask(w.person(1));
    await w.clock.advance(CODE_TTL_MS / 2);
    await w.pairing.revoke(idOf(w, 1), OLGA);
    await w.clock.advance(CODE_TTL_MS - 1);
    expect(await w.pairing.ask(w.person(1))).toBeNull();
    await w.clock.advance(1);
    expect(await w.pairing.ask(w.person(1))).not.toBeNull();
  });

  test("is announced, and so is every decision about them, so that an open page shows it", async () => {
    await using w = await world();
    const code = codeIn(await w.pairing.ask(w.person(1)));
    const counts = [w.told.length];
    await w.pairing.approve({ code, role: "member" }, OLGA);
    counts.push(w.told.length);
    await w.pairing.undo(idOf(w, 1), OLGA);
    counts.push(w.told.length);
    await w.pairing.revoke(idOf(w, 1), OLGA);
    counts.push(w.told.length);
    expect(counts).toEqual([2, 4, 6, 8]);
    expect(w.told.slice(0, 2)).toEqual(["changed", "spread 1"]); // stored before other gateways are told to read it
  });

  test("is decided about after a store that failed once", async () => {
    await using w = await world();
    const code = codeIn(await w.pairing.ask(w.person(1)));
    const { put } = w.real.store.pairings;
    Object.assign(w.real.store.pairings, { put: () => Promise.reject(new Error("disk full")) });
    await expect(w.pairing.approve({ code, role: "member" }, OLGA)).rejects.toThrow("disk full");
    expect(w.pairing.isPaired(w.person(1).principal, "telegram", "main")).toBe(false);
    Object.assign(w.real.store.pairings, { put });
    expect(await w.pairing.approve({ code, role: "member" }, OLGA)).toMatchObject({ kind: "approved" });
  });
});

test("digests of the same pairing code in two entries differ", () => {
  expect(codeDigest("pair_1", "ABCD2345")).not.toBe(codeDigest("pair_2", "ABCD2345"));
});

describe("an approval", () => {
  test("needs the right code: an id, another person's code or no code at all lets nobody in", async () => {
    await using w = await world();
    const codes = await Promise.all([1, 2].map(async (number) => codeIn(await w.pairing.ask(w.person(number)))));
    const one = idOf(w, 1);
    const tries = [
      { code: one, role: "owner" },
      { code: "", id: one, role: "owner" },
      { code: one, id: one, role: "owner" },
      { code: codes[1] ?? "", id: one, role: "owner" },
      { code: "AAAAAAAA", id: one, role: "owner" },
      { code: codes[0] ?? "", id: "pair_999", role: "owner" },
    ] as const;
    const kinds = [];
    for (const request of tries) kinds.push((await w.pairing.approve(request, OLGA)).kind);
    expect(kinds).toEqual(["unknown", "wrong_code", "wrong_code", "wrong_code", "wrong_code", "unknown"]);
    expect(w.pairing.list().map(({ state }) => state)).toEqual(["pending", "pending"]);
    expect(w.grants.current().size).toBe(0);
    const right = { code: codes[0] ?? "", id: one, role: "member" } as const;
    expect(await w.pairing.approve(right, OLGA)).toMatchObject({ kind: "approved", role: "member" });
  });

  test.each(["guest", "member", "owner"] as const)("gives exactly the role it names: %s", async (role) => {
    await using w = await world();
    const code = codeIn(await w.pairing.ask(w.person(1)));
    expect(await w.pairing.approve({ code, role }, OLGA)).toMatchObject({ kind: "approved", role, person: { role } });
    const again = await w.open();
    expect(again.pairing.list()).toMatchObject([{ state: "approved", role }]);
  });

  test("cannot change the role of a person whom the configuration names", async () => {
    const { principal } = { principal: "telegram:user:1" };
    await using w = await world([principal]);
    const code = codeIn(await w.pairing.ask(w.person(1)));
    expect(await w.pairing.approve({ code, role: "guest" }, OLGA)).toMatchObject({ role: "owner" });
  });

  test("repeated is the same as once, and does not change the role", async () => {
    await using w = await world();
    const code = codeIn(await w.pairing.ask(w.person(1)));
    const first = await w.pairing.approve({ code, role: "member" }, OLGA);
    for (let at = 0; at <= MAX_WRONG_CODES; at++)
      expect(await w.pairing.approve({ code, role: "owner" }, OLGA)).toEqual(first);
    expect(w.grants.current().size).toBe(0);
  });

  test("is locked for an approver after ten wrong codes in ten minutes, the right one included; others go on", async () => {
    await using w = await world();
    const code = codeIn(await w.pairing.ask(w.person(1)));
    const [{ id } = { id: "" }] = w.pairing.list();
    const approve = (given: string, by = OLGA) => w.pairing.approve({ code: given, id, role: "member" }, by);
    for (let at = 0; at < MAX_WRONG_CODES; at++) {
      expect((await approve("AAAAAAAA")).kind).toBe("wrong_code");
      await w.clock.advance(1_000);
    }
    const retryAfterMs = WRONG_CODES_MS - MAX_WRONG_CODES * 1_000;
    expect(await approve(code)).toEqual({ kind: "locked", retryAfterMs });
    await w.clock.advance(retryAfterMs - 1);
    expect((await approve(code)).kind).toBe("locked");
    expect((await approve("BBBBBBBB", "telegram:user:77" as Principal)).kind).toBe("wrong_code");
    await w.clock.advance(1);
    expect((await approve(code)).kind).toBe("approved");
  });
});

describe("an approval that is revoked", () => {
  test("takes the role away with it, over a restart", async () => {
    await using w = await world();
    const code = codeIn(await w.pairing.ask(w.person(1)));
    await w.pairing.approve({ code, role: "owner" }, OLGA);
    const [entry] = w.pairing.list();
    expect(await w.pairing.revoke(entry?.id ?? "", OLGA)).toBe(true);
    expect(w.pairing.isPaired(w.person(1).principal, "telegram", "main")).toBe(false);
    expect((await w.open()).grants.current().size).toBe(0);
    expect(await w.pairing.revoke(entry?.id ?? "", OLGA)).toBe(false);
  });
});

describe("undo", () => {
  const begin = async (w: Awaited<ReturnType<typeof world>>) => {
    const code = codeIn(await w.pairing.ask(w.person(1)));
    const [{ id } = { id: "" }] = w.pairing.list();
    return { code, id };
  };

  test("of an approval takes the role and the way in back, and the code works again", async () => {
    await using w = await world();
    const { code, id } = await begin(w);
    await w.pairing.approve({ code, role: "owner" }, OLGA);
    expect(await w.pairing.undo(id, OLGA)).toBe(true);
    const again = await w.open();
    expect(again.grants.current().size).toBe(0);
    expect(again.pairing.isPaired(w.person(1).principal, "telegram", "main")).toBe(false);
    expect(w.pairing.list()).toMatchObject([{ id, state: "pending", role: null }]);
    expect(await w.pairing.approve({ code, id, role: "member" }, OLGA)).toMatchObject({ role: "member" });
  });

  test("of a revocation gives back what was there: waiting, or approved with the same role", async () => {
    await using w = await world();
    const { code, id } = await begin(w);
    await w.pairing.revoke(id, OLGA);
    expect(await w.pairing.undo(id, OLGA)).toBe(true);
    expect(w.pairing.list()).toMatchObject([{ id, state: "pending" }]);
    await w.pairing.approve({ code, role: "owner" }, OLGA);
    await w.pairing.revoke(id, OLGA);
    expect(await w.pairing.undo(id, OLGA)).toBe(true);
    expect((await w.open()).pairing.list()).toMatchObject([{ id, state: "approved", role: "owner" }]);
  });

  test("is possible once for each decision, within ten minutes", async () => {
    await using w = await world();
    const { id } = await begin(w);
    expect(await w.pairing.undo(id, OLGA)).toBe(false);
    await w.pairing.revoke(id, OLGA);
    expect([await w.pairing.undo(id, OLGA), await w.pairing.undo(id, OLGA)]).toEqual([true, false]);
    await w.pairing.revoke(id, OLGA);
    await w.clock.advance(UNDO_MS);
    expect(await w.pairing.undo(id, OLGA)).toBe(false);
  });
});
