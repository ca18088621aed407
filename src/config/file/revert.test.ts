import { expect, test } from "bun:test";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "../../testing/temp-home.ts";
import { LAST_GOOD_NAME } from "./load.ts";
import { hasLastGood, revertConfig, textInForce } from "./revert.ts";

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

test("last good settings behind a link are nobody's: they are neither there, nor in force, nor gone back to", async () => {
  await using home = await tempHome();
  const [file, other] = [join(home.path, "pi-gateway.jsonc"), join(home.path, "somebody-elses")];
  await writeFile(file, "{ broken");
  await writeFile(other, "{}");
  await symlink(other, join(home.path, LAST_GOOD_NAME));
  expect([await hasLastGood(home.path), await textInForce(home.path, file, false)]).toEqual([false, null]);
  expect(await revertConfig(home.path, file)).toEqual(["There are no last good settings to go back to."]);
  expect(await readFile(file, "utf8")).toBe("{ broken");
});

test("the text in force is that of the file, through a link as well, or else that of the last good settings", async () => {
  await using home = await tempHome();
  const [file, real] = [join(home.path, "pi-gateway.jsonc"), join(home.path, "dotfile")];
  await writeFile(real, "{ /* mine */ }");
  await symlink(real, file);
  await writeFile(join(home.path, LAST_GOOD_NAME), "{ /* kept */ }", { mode: 0o600 });
  expect([await textInForce(home.path, file, true), await textInForce(home.path, file, false)]).toEqual([
    "{ /* mine */ }",
    "{ /* kept */ }",
  ]);
  await rm(real);
  expect([await textInForce(home.path, null, true), await textInForce(home.path, file, true)]).toEqual([null, null]);
});

test("a file that is gone comes back with the last good settings, and a folder in its place is left alone", async () => {
  await using home = await tempHome();
  const file = join(home.path, "pi-gateway.jsonc");
  await writeFile(join(home.path, LAST_GOOD_NAME), "{ /* kept */ }", { mode: 0o600 });
  expect([await revertConfig(home.path, file), await readFile(file, "utf8")]).toEqual([[], "{ /* kept */ }"]);
  const folder = join(home.path, "folder");
  await mkdir(folder);
  expect(await revertConfig(home.path, folder)).toEqual([`${folder} cannot be read. Nothing was changed.`]);
});
