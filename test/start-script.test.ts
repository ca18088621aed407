/** What `bin/pi-gw` does before it becomes the gateway: it makes dist/ when a source was touched, and loses no time when none was. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { FILES, FOLDERS, noteLook } from "../scripts/stamp.mjs";
import { tempHome } from "../src/testing/temp-home.ts";
import { waitFor } from "../src/testing/wait-for.ts";

const SCRIPT = join(import.meta.dir, "..", "bin", "pi-gw");
const script = readFileSync(SCRIPT, "utf8");
const isUntouched = /^is_untouched\(\) \{\n[^]*?^\}/m.exec(script)?.[0] ?? "";

/** A checkout whose files were looked at a while ago. */
async function checkout() {
  const home = await tempHome();
  for (const file of [...FILES, ...FOLDERS.map((folder) => `${folder}/deep/one.ts`), "dist/.stamp"]) {
    mkdirSync(dirname(join(home.path, file)), { recursive: true });
    writeFileSync(join(home.path, file), "");
  }
  noteLook(home.path, Date.now() + 60_000);
  const ask = (): boolean =>
    Bun.spawnSync(["sh", "-c", `root=$1\n${isUntouched}\nis_untouched`, "sh", home.path]).exitCode === 0;
  return { ...home, ask };
}

test("the start script looks at everything that a build is made of", () => {
  for (const part of [...FOLDERS, ...FILES]) expect(isUntouched.split(/[\s\\]+/)).toContain(part);
});

test("a checkout whose files are older than the last look is run without asking Bun about them", async () => {
  await using project = await checkout();
  expect(project.ask()).toBe(true);
});

test.each([
  ["a source that was changed", (root: string) => writeFileSync(join(root, "src/deep/one.ts"), "x")],
  ["a source that is new", (root: string) => writeFileSync(join(root, "console/deep/two.ts"), "x")],
  ["a source that is gone", (root: string) => rmSync(join(root, "bridge/deep/one.ts"))],
  ["a lock file that is gone", (root: string) => rmSync(join(root, "package-lock.json"))],
  ["a build that was never made", (root: string) => rmSync(join(root, "dist/.stamp"))],
])("the start script asks Bun about %s", async (_what, change) => {
  await using project = await checkout();
  const lookedAt = Date.now() + 50;
  noteLook(project.path, lookedAt + 1_000); // a second is taken off
  expect(project.ask()).toBe(true);
  await waitFor("the moment of the look to be over", () => Date.now() > lookedAt + 50);
  change(project.path);
  expect(project.ask()).toBe(false);
});
