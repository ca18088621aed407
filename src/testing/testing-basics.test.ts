import { expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { recordingLog } from "./recording-log.ts";
import { createSeqIds } from "./seq-ids.ts";
import { tempHome } from "./temp-home.ts";

test("sequential ids count per prefix", () => {
  const ids = createSeqIds();
  expect([ids.next("turn"), ids.next("turn"), ids.next("in")]).toEqual(["turn_000001", "turn_000002", "in_000001"]);
});

test("sequential secrets are the same in every run, all different, and of the right length", () => {
  const ids = createSeqIds();
  const first = ids.secret(40);
  expect(Buffer.from(first, "base64url")).toHaveLength(40);
  expect(ids.secret(40)).not.toBe(first);
  expect(createSeqIds().secret(40)).toBe(first);
});

test("a temporary home is private and gone after use", async () => {
  let path = "";
  {
    await using home = await tempHome();
    path = home.path;
    await Bun.write(join(path, "file"), "x");
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect((await stat(join(path, "file"))).mode & 0o777).toBe(0o600);
  }
  expect(await stat(path).catch(() => "gone")).toBe("gone");
});

test("a recording log keeps the lines of its children with their fields", () => {
  const log = recordingLog();
  log.child({ turnId: "t1" }).warn("agent slow", { ms: 5 });
  expect(log.lines).toEqual([{ level: "warn", words: "agent slow", fields: { turnId: "t1", ms: 5 } }]);
});
