import { expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "../../testing/temp-home.ts";
import { LAST_GOOD_NAME } from "./load.ts";
import { hasLastGood, revertConfig } from "./revert.ts";

test("a broken file gives way to the last good settings, and a copy of it stays", async () => {
  await using home = await tempHome();
  const file = join(home.path, "pi-gateway.jsonc");
  await writeFile(file, "{ broken", { mode: 0o600 });
  expect([await hasLastGood(home.path), await revertConfig(home.path, file)]).toEqual([
    false,
    ["There are no last good settings to go back to."],
  ]);
  await writeFile(join(home.path, LAST_GOOD_NAME), '{ "agent": {} } // kept', { mode: 0o600 });
  expect([await hasLastGood(home.path), await revertConfig(home.path, file)]).toEqual([true, []]);
  expect(await readFile(file, "utf8")).toBe('{ "agent": {} } // kept');
  expect(await readFile(`${file}.bak-1`, "utf8")).toBe("{ broken");
});
