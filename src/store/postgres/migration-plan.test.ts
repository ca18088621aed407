import { describe, expect, test } from "bun:test";
import type { Migration } from "../migrations/migration.ts";
import { POSTGRES_MIGRATIONS } from "./migrate.ts";
import { planMigrations } from "./migration-plan.ts";

const FIRST = { name: "first", sql: "" };
const ADDS = { name: "adds", sql: "" };
const TAKES = { name: "takes", sql: "", worksFrom: "0.3.0" };
const LAST = { name: "last", sql: "" };
const KNOWN: readonly Migration[] = [FIRST, ADDS, TAKES, LAST];
const APPLIED = [{ name: "first", worksFrom: null }];

/** Names of what is applied and of what waits. */
function planned(look: Partial<Parameters<typeof planMigrations>[0]>) {
  const plan = planMigrations({ applied: APPLIED, known: KNOWN, version: "0.4.0", live: [], ...look });
  if (plan.kind === "too old") return plan;
  return { apply: plan.apply.map(({ name }) => name), wait: plan.wait.map(({ name }) => name) };
}

describe("migrations of a starting gateway", () => {
  test.each([
    ["nobody lives", [], ["adds", "takes", "last"], []],
    ["all who live work without what is taken away", ["0.3.0", "0.4.0", "1.0.0"], ["adds", "takes", "last"], []],
    ["one who lives is older", ["0.4.0", "0.2.9"], ["adds", "last"], ["takes"]],
    ["one who lives is a first try of that version", ["0.3.0-beta.1"], ["adds", "last"], ["takes"]],
    ["one who lives has a version that nobody can read", ["unknown"], ["adds", "last"], ["takes"]],
  ])("are applied as far as nobody misses anything: %s", (_case, live, apply, wait) => {
    expect(planned({ live })).toEqual({ apply, wait });
  });

  test("that a newer version applied and that only add are no reason to refuse", () => {
    expect(planned({ applied: [...APPLIED, { name: "of another", worksFrom: null }], known: [FIRST] })).toEqual({
      apply: [],
      wait: [],
    });
  });

  test.each([
    ["0.2.9", "too old"],
    ["0.3.0-beta.1", "too old"],
    ["unknown", "too old"],
    ["0.3.0", undefined],
    ["0.3.1", undefined],
  ])("that a newer version applied and that took something away decide who may work on: %s", (version, kind) => {
    const applied = [...APPLIED, { name: "of another", worksFrom: "0.3.0" }];
    const plan = planned({ applied, known: [FIRST], version });
    expect("kind" in plan ? plan.kind : undefined).toBe(kind as never);
  });

  test("that are known are no reason to refuse, whatever they took away", () => {
    const applied = KNOWN.map(({ name, worksFrom = null }) => ({ name, worksFrom }));
    expect(planned({ applied, version: "0.1.0" })).toEqual({ apply: [], wait: [] });
  });
});

/** Made before gateways of two versions could meet. */
const BEFORE = new Set(["outbox-owners"]);
/** Drops a check to add a wider one: what older gateways write still fits. */
const WIDENS = new Set(["approval-rules"]);
const TAKES_AWAY = /\b(?:drop|rename|truncate|delete from|alter column|set not null|set data type)\b/i;
const ADDS_WHAT_MUST_BE_GIVEN = /add column (?:if not exists )?\S+ [^,;]*\bnot null\b(?![^,;]*\bdefault\b)/i;

describe("a migration on Postgres", () => {
  test("leaves older gateways working, or says from which version on they do", () => {
    const wrong = POSTGRES_MIGRATIONS.filter(
      ({ name, sql, worksFrom }) =>
        !BEFORE.has(name) &&
        !WIDENS.has(name) &&
        worksFrom === undefined &&
        (TAKES_AWAY.test(sql) || ADDS_WHAT_MUST_BE_GIVEN.test(sql)),
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  test.each([
    "alter table a drop column b",
    "alter table a rename to b",
    "alter table a alter column b type bigint",
    "alter table a add column b bigint not null",
    "alter table a add column b text not null, add column c text not null default ''",
  ])("would be noticed: %s", (sql) => {
    expect(TAKES_AWAY.test(sql) || ADDS_WHAT_MUST_BE_GIVEN.test(sql)).toBe(true);
  });
});
