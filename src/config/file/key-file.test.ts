/** Keys of model providers in files: which names get one, where it is, and that nobody else can read it. */
import { expect, test } from "bun:test";
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import { secret } from "../../kit/secret.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { keyFileOf, writeKeyFile } from "./key-file.ts";

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

test.each(["anthropic", "9router", "azure-openai", "my_own", "x", "a".repeat(64)])(
  "the key of %s is in a file of that name",
  (provider) => {
    expect(keyFileOf("/state", provider)).toBe(`/state/keys/${provider}`);
  },
);

test.each(["", "..", "../escape", "a/b", "/etc/x", ".hidden", "-x", "_x", "Anthropic", "a b", "a\n", "a".repeat(65)])(
  "%p is no name of a provider, and becomes no part of a path",
  (provider) => {
    let error: unknown;
    try {
      keyFileOf("/state", provider);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({
      code: "bad_request",
      say: "A provider's name is one word in small letters, such as anthropic.",
    });
  },
);

test("a key is written with one line end, into a folder and a file that only their owner reads", async () => {
  await using home = await tempHome();
  const file = keyFileOf(join(home.path, "new"), "anthropic");
  await writeKeyFile(file, secret("sk-one"));
  expect(await readFile(file, "utf8")).toBe("sk-one\n");
  expect([await modeOf(file), await modeOf(dirname(file))]).toEqual([0o600, 0o700]);
});

test("a key takes the place of the one before it, whoever could read that one, and nothing else stays in the folder", async () => {
  await using home = await tempHome();
  const file = keyFileOf(home.path, "anthropic");
  await mkdir(dirname(file));
  await writeFile(file, "sk-a-much-longer-one\n");
  await chmod(file, 0o644);
  await writeKeyFile(file, secret("sk-two"));
  expect([await readFile(file, "utf8"), await modeOf(file)]).toEqual(["sk-two\n", 0o600]);
  expect(await readdir(dirname(file))).toEqual(["anthropic"]);
});

test("a key takes the place of a link, and the file behind the link stays as it is", async () => {
  await using home = await tempHome();
  const [file, elsewhere] = [keyFileOf(home.path, "anthropic"), join(home.path, "elsewhere")];
  await mkdir(dirname(file));
  await writeFile(elsewhere, "mine");
  await symlink(elsewhere, file);
  await writeKeyFile(file, secret("sk-three"));
  expect([await readFile(file, "utf8"), await readFile(elsewhere, "utf8")]).toEqual(["sk-three\n", "mine"]);
});
