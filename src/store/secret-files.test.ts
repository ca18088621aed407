/** Keys in the state directory: drawn at random, or made of a secret that several gateways share. */
import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { systemIds } from "../kit/ids.ts";
import { secret } from "../kit/secret.ts";
import { tempHome } from "../testing/temp-home.ts";
import { openAuditKey, openPushKey, openSecretFiles } from "./secret-files.ts";

const SHARED = secret("kX8tQm2vRz7LpW4nYb9sDf6hJc3gTa5e");

const keysIn = (home: string, shared: typeof SHARED | undefined) => {
  const deps = { ids: systemIds, shared };
  const files = openSecretFiles(deps, home);
  const keys = [files.mediaKey, openAuditKey(deps, home), openPushKey(deps, home)].map((key) =>
    Buffer.from(key).toString("hex"),
  );
  return [...keys, files.token(undefined).reveal()];
};

test("state directories that share a secret have the same keys, each key another one", async () => {
  await using one = await tempHome();
  await using other = await tempHome();
  const keys = keysIn(one.path, SHARED);
  expect(keysIn(other.path, SHARED)).toEqual(keys);
  expect(new Set(keys).size).toBe(4);
  expect(keys.every((key) => key.length >= 43 && !key.includes(SHARED.reveal()))).toBe(true);
  for (const file of ["audit.key", "push.key"]) expect(statSync(join(one.path, file)).mode & 0o777).toBe(0o600);
});

test("state directories without a shared secret have keys of their own", async () => {
  await using one = await tempHome();
  await using other = await tempHome();
  const [keys, others] = [keysIn(one.path, undefined), keysIn(other.path, undefined)];
  expect(new Set([...keys, ...others]).size).toBe(8);
});

test("a key that is there stays when a secret is shared later, or is another one", async () => {
  await using home = await tempHome();
  const keys = keysIn(home.path, undefined);
  expect(keysIn(home.path, SHARED)).toEqual(keys);
  await using shared = await tempHome();
  const first = keysIn(shared.path, SHARED);
  expect(keysIn(shared.path, secret("another-secret-for-tests-7f3kQ9"))).toEqual(first);
});
