/** Everyday work behind the wall, on this machine's kernel and with its programs. Tiers and programs that are missing are skipped by name. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type ConfinedRoom, confinedRoom } from "../../src/testing/confined-run.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { type Use, USES } from "./everyday-uses.ts";

setDefaultTimeout(120_000);

const LEAST = 30;
const TIERS = ["full", "basic"] as const;
const homes = await Promise.all(TIERS.map(() => tempHome()));
const rooms = await Promise.all(TIERS.map((tier, index) => confinedRoom(homes[index]?.path ?? "", tier)));
afterAll(() => Promise.all(homes.map((home) => home[Symbol.asyncDispose]())));

test("everyday uses are thirty or more for each tier", () => {
  expect(USES.filter(({ tier }) => tier === undefined).length).toBeGreaterThanOrEqual(LEAST);
});

describe.each(TIERS.map((tier, index) => [tier, rooms[index] ?? null] as const))(
  "the %s tier lets an agent use",
  (tier, room) => {
    for (const use of USES.filter((one) => one.tier === undefined || one.tier === tier))
      test.skipIf(room === null || !isThere(use))(use.name, async () => {
        const { stdout, stderr } = await used(room as ConfinedRoom, use);
        expect(stdout, stderr.slice(-500)).toMatch(use.says);
      });
  },
);

function used(room: ConfinedRoom, { name, command }: Use) {
  const cwd = join(room.workspace, name.replace(/\W+/g, "-"));
  mkdirSync(cwd, { recursive: true });
  const env = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: room.workspace,
    TMPDIR: room.temp,
    LANG: "C.UTF-8",
    BUN: process.execPath,
  };
  return room.run(["/bin/bash", "-c", command], {}, { cwd, env });
}

function isThere({ needs }: Use): boolean {
  return needs === undefined || Bun.which(needs, { PATH: "/usr/local/bin:/usr/bin:/bin" }) !== null;
}
