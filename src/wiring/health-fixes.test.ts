/** What the gateway does about its own checks: a sentence for each, and the reason where it cannot be done. */
import { expect, test } from "bun:test";
import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AuditVerification } from "../contracts/store/tool-calls.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { tempHome } from "../testing/temp-home.ts";
import { createFixes, type FixParts } from "./health-fixes.ts";

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

async function world(more: Partial<FixParts> = {}) {
  const home = await tempHome();
  const file = join(home.path, "settings.jsonc");
  await writeFile(file, "{}", { mode: 0o600 });
  const clock = createFakeClock();
  const parts: FixParts = {
    status: () => ({ config: { file, applied: true, problems: [] } }),
    verifier: { verify: async () => ({ kind: "intact" }) as AuditVerification },
    backups: {
      makeNow: async () => null,
      report: () => ({ everyMs: null, folder: "/backups", newestAt: null, failure: null }),
    },
    revert: async () => [],
    ...more,
  };
  const fix = createFixes({ clock, home: home.path }, parts);
  return { fix, clock, file, home: home.path, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

test("files that others could read are private after a fix: the settings, the token, folders", async () => {
  await using it = await world();
  expect(await it.fix("modes")).toBe("Everything is private already.");
  const token = join(it.home, "token");
  const media = join(it.home, "media");
  await Promise.all([writeFile(token, "secret"), mkdir(media)]);
  await Promise.all([chmod(it.file, 0o640), chmod(it.home, 0o755), chmod(token, 0o644), chmod(media, 0o755)]);
  expect(await it.fix("modes")).toBe(`Private now: ${[it.file, it.home, media, token].join(", ")}.`);
  expect(await Promise.all([it.file, it.home, media, token].map(modeOf))).toEqual([0o600, 0o700, 0o700, 0o600]);
});

test("the last good settings come back, or the sentence says why not", async () => {
  await using it = await world();
  expect(await it.fix("settings")).toStartWith("The last good settings are in force again.");
  await using other = await world({ revert: async () => ["There is no copy."] });
  await expect(other.fix("settings")).rejects.toMatchObject({ code: "conflict", say: "There is no copy." });
});

test("a backup is made at once, its failure is told, and one that takes long goes on", async () => {
  await using it = await world();
  expect(await it.fix("backup")).toBe("A backup is made. It is in /backups.");
  expect(it.clock.pending()).toBe(0);
  const { report } = { report: () => ({ everyMs: null, folder: "/backups", newestAt: null, failure: null }) };
  await using full = await world({ backups: { report, makeNow: async () => "There is no room." } });
  await expect(full.fix("backup")).rejects.toMatchObject({ say: "The backup failed: There is no room." });
  await using slow = await world({ backups: { report, makeNow: () => new Promise(() => undefined) } });
  const asked = slow.fix("backup");
  await slow.clock.advance(10_000);
  expect(await asked).toBe("A backup is being made. It will be in /backups.");
});

test("the audit log is looked at, and the first thing that is wrong is told", async () => {
  await using it = await world();
  expect(await it.fix("audit")).toBe("The audit log is intact.");
  const tampered = { kind: "tampered", findings: ["Row 7 was changed."] } as unknown as AuditVerification;
  await using other = await world({ verifier: { verify: async () => tampered } });
  expect(await other.fix("audit")).toBe("Row 7 was changed.");
});
