/** The state directory: who may use it, and that only one gateway does, whatever becomes of the other. */
import { expect, test } from "bun:test";
import { chmod, chown, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isGatewayError } from "../contracts/errors.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { startStoreChild } from "../testing/contracts/store/store-child.ts";
import { tempHome } from "../testing/temp-home.ts";
import { openStateDirectory } from "./index.ts";

async function refusal(home: string): Promise<{ readonly code: string; readonly say: string } | null> {
  try {
    await using _held = await openStateDirectory({ log: recordingLog() }, home);
    return null;
  } catch (error) {
    return isGatewayError(error) ? { code: error.code, say: error.say } : { code: "not ours", say: String(error) };
  }
}

test("a missing state directory is made, private", async () => {
  await using base = await tempHome();
  const path = join(base.path, "deep", "home");
  await using held = await openStateDirectory({ log: recordingLog() }, `${path}/`);
  expect([held.path, ((await stat(path)).mode & 0o777).toString(8)]).toEqual([path, "700"]);
});

test("a state directory that others could read is closed to them, with a warning", async () => {
  await using home = await tempHome();
  await chmod(home.path, 0o755);
  const log = recordingLog();
  await using _held = await openStateDirectory({ log }, home.path);
  expect(((await stat(home.path)).mode & 0o777).toString(8)).toBe("700");
  expect(log.lines).toEqual([
    {
      level: "warn",
      words: "state directory was open to others and is private now",
      fields: { path: home.path, mode: "755" },
    },
  ]);
});

test("a link, a file and a stranger's folder are refused, each with the reason and a way out", async () => {
  await using base = await tempHome();
  const path = (name: string) => join(base.path, name);
  await mkdir(path("real"));
  await symlink(path("real"), path("link"));
  await symlink(path("nowhere"), path("dangling"));
  await writeFile(path("file"), "");
  const out = "or start with --home and another folder.";
  const link = (name: string) => `The state directory ${path(name)} is a symbolic link. Name the real folder, ${out}`;
  expect(await refusal(path("link"))).toEqual({ code: "home_unusable", say: link("link") });
  expect(await refusal(`${path("link")}/`)).toEqual({ code: "home_unusable", say: link("link") });
  expect((await refusal(path("dangling")))?.code).toBe("home_unusable");
  expect(await refusal(path("file"))).toEqual({
    code: "home_unusable",
    say: `The state directory ${path("file")} is a file, not a folder. Move that file away, ${out}`,
  });
  expect((await refusal(path("file/below")))?.code).toBe("home_unusable");
  expect(await readdir(path("real"))).toEqual([]);
});

test.skipIf(process.getuid?.() !== 0)("a folder of another user is refused", async () => {
  await using home = await tempHome();
  await chown(home.path, 12_345, 12_345);
  expect(await refusal(home.path)).toEqual({
    code: "home_unusable",
    say: `The state directory ${home.path} belongs to another user (uid 12345). Start the gateway as that user, or start with --home and another folder.`,
  });
});

test("a second gateway on the same directory is told who has it, and gets it when the first has gone", async () => {
  await using home = await tempHome();
  const first = await openStateDirectory({ log: recordingLog() }, home.path);
  expect(await refusal(home.path)).toEqual({
    code: "home_taken",
    say: `Another gateway (process ${process.pid}) is already running on ${home.path}. Stop it first, or start this one with --home and another folder.`,
  });
  expect(await readdir(home.path)).toContain("gateway.pid");
  await first[Symbol.asyncDispose]();
  expect(await readdir(home.path)).not.toContain("gateway.pid");
  expect(await refusal(home.path)).toBeNull();
});

test("the hold of another process counts, and ends with that process even when it is killed", async () => {
  await using home = await tempHome();
  await using child = await startStoreChild(["hold", home.path]);
  expect(await child.line()).toBe("held");
  expect(await refusal(home.path)).toEqual({
    code: "home_taken",
    say: `Another gateway (process ${child.pid}) is already running on ${home.path}. Stop it first, or start this one with --home and another folder.`,
  });
  await child.kill();
  expect(await refusal(home.path)).toBeNull();
});
