/** Session files: made with a header, cut back, never grown. */
import { expect, test } from "bun:test";
import { appendFile, readFile, stat, writeFile } from "node:fs/promises";
import { tempHome } from "../../testing/temp-home.ts";
import { ensureSessionFile, moveSession, rewindSessionFile, sessionPath, settledSize, sizeOf } from "./session-file.ts";

const header = { id: "ses_1", at: 0, cwd: "/workspace" };
const json = { type: "session", version: 3, id: "ses_1", timestamp: "1970-01-01T00:00:00.000Z", cwd: "/workspace" };
const HEADER = `${JSON.stringify(json).padEnd(1_023)}\n`;

async function file() {
  const home = await tempHome();
  const path = sessionPath(home.path, "session-a.jsonl");
  await ensureSessionFile(path, header);
  return { path, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

test.each([
  "../evil.jsonl",
  "a/b/c/d/e.jsonl",
  "short.jsonl",
  "UPPERCASE.jsonl",
  "session-a.json",
  "session-a.jsonl\n",
  "",
])("the name %p is refused", (name) => {
  expect(() => sessionPath("/sessions", name)).toThrow("not a session file name");
});

test("a new session file holds its header and is private", async () => {
  await using one = await file();
  expect(await readFile(one.path, "utf8")).toBe(HEADER);
  expect((await stat(one.path)).mode & 0o777).toBe(0o600);
});

test("an existing session file is left as it is", async () => {
  await using one = await file();
  await appendFile(one.path, "more\n");
  await ensureSessionFile(one.path, { ...header, id: "other" });
  expect(await readFile(one.path, "utf8")).toBe(`${HEADER}more\n`);
});

test.each([
  ["in the middle cuts what came after", HEADER.length + 4, `${HEADER}one\n`],
  ["beyond the end changes nothing", 99_999, `${HEADER}one\ntwo\n`],
  ["at zero begins anew", 0, HEADER],
  ["inside the header begins anew", 10, HEADER],
])("a rewind %s", async (_name, settledBytes, expected) => {
  await using one = await file();
  await appendFile(one.path, "one\ntwo\n");
  await rewindSessionFile(one.path, settledBytes, header);
  expect(await readFile(one.path, "utf8")).toBe(expected);
});

test("a rewind of a file that is gone or empty makes it again", async () => {
  await using one = await file();
  await writeFile(one.path, "");
  await rewindSessionFile(one.path, 500, header);
  expect(await readFile(one.path, "utf8")).toBe(HEADER);
});

test.each([
  ["whole lines", "{}\n{}\n", 6],
  ["a last line that was cut", '{}\n{"half', 3],
  ["a cut line longer than one read", `{}\n${"x".repeat(200_000)}`, 3],
  ["no line end at all", "", 0],
])("a session file with %s is settled up to its last line end", async (_what, text, expected) => {
  await using made = await file();
  await appendFile(made.path, text);
  expect(settledSize(made.path)).toBe(HEADER.length + expected);
});

test("a session file that is not there, or holds no whole line, has nothing settled", async () => {
  await using made = await file();
  expect(settledSize(`${made.path}.gone`)).toBe(0);
  await writeFile(made.path, "no line end");
  expect(settledSize(made.path)).toBe(0);
});

test("a file that is not there has no size", async () => {
  expect(sizeOf("/nowhere/session-a.jsonl")).toBe(0);
});

test("a session follows its workspace without changing its size", async () => {
  await using one = await file();
  await appendFile(one.path, "one\n");
  await moveSession(one.path, "/a/much/longer/path/to/the/workspace");
  const [first, second] = (await readFile(one.path, "utf8")).split("\n");
  expect([JSON.parse(first ?? ""), second]).toEqual([{ ...json, cwd: "/a/much/longer/path/to/the/workspace" }, "one"]);
  expect(sizeOf(one.path)).toBe(HEADER.length + 4);
});
