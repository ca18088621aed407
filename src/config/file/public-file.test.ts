import { expect, test } from "bun:test";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "../../testing/temp-home.ts";
import { fileOthersCanRead } from "./public-file.ts";

test("a configuration file with a secret in it that others can read is named; one with a variable, or private, is not", async () => {
  await using home = await tempHome();
  const path = join(home.path, "pi-gateway.jsonc");
  const write = async (token: string, mode: number) => {
    await writeFile(path, JSON.stringify({ gateway: { auth: { token } } }));
    await chmod(path, mode);
    return fileOthersCanRead(path);
  };
  expect(await write("a-token-of-at-least-22-characters", 0o644)).toBe(path);
  expect(await write("a-token-of-at-least-22-characters", 0o640)).toBe(path); // the group is others as well
  expect(await write("a-token-of-at-least-22-characters", 0o604)).toBe(path);
  expect(await write("a-token-of-at-least-22-characters", 0o600)).toBeNull();
  expect(await write("a-token-of-at-least-22-characters", 0o622)).toBeNull(); // written by others, and not read
  expect(await write("${TOKEN}", 0o644)).toBeNull();
  expect([await fileOthersCanRead(null), await fileOthersCanRead(join(home.path, "none"))]).toEqual([null, null]);
});
