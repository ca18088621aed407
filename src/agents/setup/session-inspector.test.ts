import { expect, test } from "bun:test";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempHome } from "../../testing/temp-home.ts";
import { headerLine } from "../talk/session-file.ts";
import { inspectSessionFile } from "./damaged-session.ts";
import { createSessionInspector } from "./session-inspector.ts";

const entry = (id: string, parentId: string | null) =>
  `${JSON.stringify({ type: "message", id, parentId, message: {} })}\n`;

async function world() {
  const home = await tempHome();
  const path = join(home.path, "session-a.jsonl");
  let readWhole = 0;
  const inspect = createSessionInspector((...asked) => (readWhole++, inspectSessionFile(...asked)));
  const look = () => inspect(path, Math.max(1, readFileSync(path).byteLength));
  writeFileSync(path, headerLine({ id: "one", at: 0, cwd: home.path }) + entry("a", null) + entry("b", "a"));
  await look();
  return { path, inspect, look, readWhole: () => readWhole, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

test("a session file that has grown by whole entries is not read line by line again", async () => {
  await using at = await world();
  const first = await at.look();
  appendFileSync(at.path, entry("c", "b") + entry("d", "c"));
  expect(await at.look()).toEqual(first);
  appendFileSync(at.path, entry("e", "a")); // a branch
  expect(await at.look()).toEqual({ ...first, flaw: null });
  expect([first.header?.id, at.readWhole()]).toEqual(["one", 1]);
});

test.each<[string, (path: string) => void, string]>([
  ["lacks an entry", (path) => appendFileSync(path, entry("d", "c")), "lacks an entry"],
  ["has an entry that follows on itself", (path) => appendFileSync(path, entry("c", "c")), "lacks an entry"],
  ["has a line that is no entry", (path) => appendFileSync(path, "{\n"), "has a line that is no entry"],
  ["was cut", (path) => appendFileSync(path, entry("c", "b").trim()), "has a last line that was cut"],
  [
    "was changed where it was in order",
    (path) => writeFileSync(path, readFileSync(path, "utf8").replace('"id":"a"', '"id":"x"')),
    "lacks an entry",
  ],
  ["is gone", (path) => rmSync(path), "is missing"],
])("a session file that %s after it was in order has a flaw", async (_how, damage, flaw) => {
  await using at = await world();
  const bytes = readFileSync(at.path).byteLength;
  damage(at.path);
  const state = flaw === "is missing" ? await at.inspect(at.path, bytes) : await at.look();
  expect(state.flaw).toBe(flaw);
});

test("a session file that became shorter than it was is read line by line", async () => {
  await using at = await world();
  writeFileSync(at.path, readFileSync(at.path, "utf8").slice(0, -entry("b", "a").length));
  expect([(await at.look()).flaw, at.readWhole()]).toEqual([null, 2]);
});
