/** Pairing: what a stranger gets, what an owner can do, and what is never done. */
import { describe, expect, test } from "bun:test";
import type { Principal } from "../../contracts/ids.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { realStore } from "../../testing/real-store.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { openRoleGrants } from "../grants.ts";
import { newCode, readCode } from "./codes.ts";
import { CODE_TTL_MS, MAX_PENDING, openPairing } from "./pairing.ts";

const OLGA = "operator" as Principal;

async function world(owners: readonly string[] = []) {
  const clock = createFakeClock();
  const real = await realStore(clock);
  const log = recordingLog();
  const ids = createSeqIds();
  const told: string[] = [];
  const events = { emit: (_event: string, data: object) => void told.push(JSON.stringify(data)) };
  const open = async () => {
    const grants = await openRoleGrants(real.store.roleGrants);
    const deps = { clock, ids, log, events, store: real.store.pairings, grants };
    return { grants, pairing: await openPairing({ ...deps, roles: () => ({ owners, members: [] }) }) };
  };
  const opened = await open();
  const person = (number: number, account = "main") => ({
    ...{ principal: `telegram:user:${number}` as Principal, name: `N${number}`, channel: "telegram", account },
  });
  const end = () => real[Symbol.asyncDispose]();
  return { clock, real, log, told, open, ...opened, person, [Symbol.asyncDispose]: end };
}

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
    expect((await w.pairing.approve(code, OLGA)).kind).toBe("unknown");
    expect(codeIn(await w.pairing.ask(w.person(1)))).not.toBe(code);
    expect((await w.pairing.approve(code, OLGA)).kind).toBe("unknown");
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
    const approval = await w.pairing.approve(code.toLowerCase(), OLGA);
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
    expect((await w.pairing.approve(code, OLGA)).kind).toBe("unknown");
    expect(w.pairing.list()).toEqual([]);
  });

  test.each(["", "AAAAAAAA", "pair_999999", "' or 1=1", "ABCD2345".repeat(1_000)])(
    "that was made up lets nobody in: %s",
    async (code) => {
      await using w = await world();
      await w.pairing.ask(w.person(1));
      expect(await w.pairing.approve(code, OLGA)).toEqual({ kind: "unknown" });
    },
  );
});

describe("the first person let in", () => {
  test("becomes an owner, the second a member; asked at the same moment, only one is the first", async () => {
    await using w = await world();
    const codes = await Promise.all([1, 2].map(async (number) => codeIn(await w.pairing.ask(w.person(number)))));
    const roles = await Promise.all(codes.map((code) => w.pairing.approve(code, OLGA)));
    expect(roles.map((one) => one.kind === "approved" && one.role)).toEqual(["owner", "member"]);
    expect([...w.grants.current()]).toEqual([[w.person(1).principal, "owner"]]);
  });

  test("is a member when the configuration names an owner", async () => {
    await using w = await world(["telegram:user:77"]);
    const code = codeIn(await w.pairing.ask(w.person(1)));
    expect(await w.pairing.approve(code, OLGA)).toMatchObject({ role: "member" });
    expect(w.grants.current().size).toBe(0);
  });

  test("approved twice is the same as once", async () => {
    await using w = await world();
    const code = codeIn(await w.pairing.ask(w.person(1)));
    const first = await w.pairing.approve(code, OLGA);
    expect(await w.pairing.approve(code, OLGA)).toEqual(first);
  });

  test("is nobody any more when that is taken back", async () => {
    await using w = await world();
    await w.pairing.approve(codeIn(await w.pairing.ask(w.person(1))), OLGA);
    const [entry] = w.pairing.list();
    expect(await w.pairing.revoke(entry?.id ?? "", OLGA)).toBe(true);
    expect(w.pairing.isPaired(w.person(1).principal, "telegram", "main")).toBe(false);
    expect((await w.open()).grants.current().size).toBe(0);
    expect(await w.pairing.revoke(entry?.id ?? "", OLGA)).toBe(false);
  });
});
