/** Tries to get out of the sandbox, with all probes, on this machine's kernel. Tiers that it cannot build are skipped by name. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BASIC_LEAKS } from "./leaks.ts";
import { PROBES } from "./probes/all.ts";
import { CLASSES } from "./probes/probe.ts";
import { hasTier, type ProbeRun, runProbes } from "./probe-run.ts";
import { namesOf } from "./verdicts.ts";
import { PYTHON } from "./world.ts";

setDefaultTimeout(120_000); // all three runs go on at the same time, and a loaded machine is slow

const LEAST = 110;
const security = readFileSync(join(import.meta.dir, "..", "..", "SECURITY.md"), "utf8");
const canTry = process.platform === "linux" && existsSync(PYTHON);

/** All at once, since each spends much of its time waiting. */
const tiers = { full: canTry && (await hasTier("full")), basic: canTry && (await hasTier("basic")) };
const runs = {
  off: canTry ? runProbes(null) : null,
  full: tiers.full ? runProbes("full") : null,
  basic: tiers.basic ? runProbes("basic") : null,
};

describe("the probes", () => {
  test(`are ${LEAST} or more, of all twelve classes, and SECURITY.md says how many of each`, () => {
    expect(PROBES.length).toBeGreaterThanOrEqual(LEAST);
    expect(new Set(PROBES.map(({ name }) => name)).size).toBe(PROBES.length);
    for (const name of CLASSES) {
      const count = PROBES.filter((probe) => probe.class === name).length;
      expect(count).toBeGreaterThan(5);
      expect([name, new RegExp(`^\\| ${name} +\\| ${count} `, "m").test(security)]).toEqual([name, true]);
    }
  });

  test("that may get through the basic tier belong to rows of the table in SECURITY.md", () => {
    for (const row of Object.keys(BASIC_LEAKS)) expect(security).toContain(`| ${row} `);
    const known = new Set(PROBES.map(({ name }) => name));
    expect(Object.values(BASIC_LEAKS).flatMap((names) => names.filter((name) => !known.has(name)))).toEqual([]);
  });

  test.skipIf(runs.off === null)(
    "get through without a wall, each of them, or name what this machine lacks",
    async () => {
      const { verdicts } = await finished(runs.off);
      const stopped = verdicts.filter(({ through, probe }) => through === null && probe.needs === undefined);
      expect(namesOf(stopped)).toEqual([]);
      expect(verdicts.filter(({ through }) => through !== null).length).toBeGreaterThanOrEqual(LEAST);
    },
  );

  test.skipIf(runs.full === null)("do not get through the full tier, not one of them", async () => {
    const { verdicts, stderr } = await finished(runs.full);
    expect(namesOf(verdicts.filter(({ through }) => through !== null))).toEqual([]);
    expect(stderr).toBe("");
  });

  test.skipIf(runs.basic === null)(
    "read no secret and reach no service from the basic tier, and the rest that get through are documented",
    async () => {
      const { verdicts, stderr } = await finished(runs.basic);
      const passed = verdicts.filter(({ through }) => through !== null);
      const documented = new Set(Object.values(BASIC_LEAKS).flat());
      const grave = passed.filter(({ through }) => through === "secret" || through === "network");
      expect(namesOf(grave)).toEqual([]);
      expect(namesOf(passed.filter(({ probe }) => !documented.has(probe.name)))).toEqual([]);
      expect(stderr).toBe("");
    },
  );
});

async function finished(run: Promise<ProbeRun> | null): Promise<ProbeRun> {
  if (run === null) throw new Error("it was not begun");
  return run;
}
