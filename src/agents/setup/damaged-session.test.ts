/** Session files that cannot be trusted: what counts as damage, what does not, and that nothing is thrown away. */
import { describe, expect, test } from "bun:test";
import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentFixture, collect, replyOf } from "../../testing/agent-fixture.ts";
import { until } from "../../testing/agent-stage.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { ensureSessionFile } from "../talk/session-file.ts";
import { inspectSessionFile, isStartedOver, removeSession, startOver } from "./damaged-session.ts";

const NAME = "session-a.jsonl";
const header = { id: "ses_1", at: 0, cwd: "/workspace" };
const entry = (id: string, parentId: string | null) => `${JSON.stringify({ type: "message", id, parentId })}\n`;
const WHOLE = [entry("1", null), entry("2", "1"), entry("3", "2")];

async function fileWith(change: (text: string) => string | Buffer) {
  const home = await tempHome();
  const path = join(home.path, "sessions", NAME);
  await ensureSessionFile(path, header);
  await appendFile(path, WHOLE.join(""));
  await writeFile(path, change(await readFile(path, "utf8")));
  return { path, home: home.path, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

const ALL = Number.MAX_SAFE_INTEGER;

test.each<[string, (text: string) => string | Buffer, string]>([
  ["nothing in it", () => "", "is empty"],
  ["noise in it", () => Buffer.alloc(5_000, 0xa5), "has no header"],
  ["zeros in it", () => Buffer.alloc(5_000), "has no header"],
  ["no header", (text) => text.slice(text.indexOf("\n") + 1), "has no header"],
  ["noise before its header", (text) => `noise\n${text}`, "has no header"],
  ["a header that is no JSON", (text) => text.replace("{", "("), "has no header"],
  ["a line that is no JSON", (text) => text.replace('"id":"2"', '"id":2"'), "has a line that is no entry"],
  ["a line that is a list", (text) => text.replace(WHOLE[1] ?? "", "[1]\n"), "has a line that is no entry"],
  ["a line missing", (text) => text.replace(WHOLE[1] ?? "", ""), "lacks an entry"],
  ["its end cut off", (text) => text.slice(0, -5), "has a last line that was cut"],
  ["a block of zeros", (text) => text.replace(WHOLE[1] ?? "", "\0".repeat(40)), "has a line that is no entry"],
])("a session file with %s is damaged", async (_name, change, because) => {
  await using file = await fileWith(change);
  expect((await inspectSessionFile(file.path, ALL)).flaw).toBe(because);
});

test("a session file that is gone is damaged", async () => {
  await using file = await fileWith((text) => text);
  await rm(file.path);
  expect((await inspectSessionFile(file.path, ALL)).flaw).toBe("is missing");
});

test("a whole session file is in order, and so is one whose damage lies behind the last finished turn", async () => {
  await using file = await fileWith((text) => text);
  expect((await inspectSessionFile(file.path, ALL)).flaw).toBeNull();
  const settled = (await readFile(file.path)).length;
  await appendFile(file.path, "half a li");
  expect((await inspectSessionFile(file.path, settled)).flaw).toBeNull();
});

test("a session that is started over keeps the old file, says so until a turn has ended, and takes it along when it is removed", async () => {
  await using file = await fileWith((text) => text.slice(50));
  const before = await readFile(file.path, "utf8");
  const kept = await startOver(file.path, header, { settledBytes: 1_777, at: 0 });
  expect(await readFile(kept ?? "", "utf8")).toBe(before);
  const { flaw, header: written } = await inspectSessionFile(file.path, 1_777);
  expect([flaw, isStartedOver(written, 1_777), isStartedOver(written, 1_500)]).toEqual([null, true, false]);
  await removeSession(file.home, NAME);
  expect(await readdir(join(file.home, "sessions"))).toEqual([]);
});

test("a session whose file a process has is not removed, because the process would bring it back", async () => {
  await using file = await fileWith((text) => text);
  const folder = join(file.home, "run", "sessions", "a-process");
  await mkdir(folder, { recursive: true });
  await rename(file.path, join(folder, NAME));
  await expect(removeSession(file.home, NAME)).rejects.toThrow("a process still has the file");
  await rename(join(folder, NAME), file.path);
  await removeSession(file.home, NAME);
  expect(await readdir(join(file.home, "sessions"))).toEqual([]);
});

describe("real pi", () => {
  test("goes on in a new file when its session file is damaged in any way, and remembers it from the next turn on", async () => {
    await using fx = await agentFixture();
    await fx.turn("echo: one");
    await fx.turn("echo: two");
    const path = join(fx.home, "sessions", NAME);
    const whole = await readFile(path, "utf8");
    const damages = [whole.slice(1), whole.replace(/\n.*?\n/, "\n"), whole.slice(0, -20), "garbage\n"];
    for (const [n, damaged] of damages.entries()) {
      await writeFile(path, damaged);
      const settledBytes = whole.length + n; // another number each time, as after a turn that has ended
      const lease = await fx.lease({ settledBytes });
      expect(lease.startedOver).toMatchObject({ kept: expect.stringContaining(".damaged-") });
      expect(replyOf(await collect(lease, "echo: three"))).toBe("three");
      const settled = await lease.settledBytes();
      await lease[Symbol.asyncDispose]();
      const next = await fx.lease({ settledBytes: settled });
      expect([next.startedOver, replyOf(await collect(next, "echo: four"))]).toEqual([undefined, "four"]);
      await next[Symbol.asyncDispose]();
    }
    const kept = (await readdir(join(fx.home, "sessions"))).filter((name) => name.includes(".damaged-"));
    expect(kept.length).toBe(damages.length);
  }, 60_000);

  test("is told again after an attempt that did not end, from a file that holds nothing of it", async () => {
    await using fx = await agentFixture();
    const path = join(fx.home, "sessions", NAME);
    await fx.turn("echo: one");
    await writeFile(path, "garbage\n");
    const exits = () => fx.happened.filter(({ event }) => event === "agent.exited").length;
    for (const [n, word] of ["two", "three"].entries()) {
      await using lease = await fx.lease({ settledBytes: 1_500 }); // no turn has ended in between
      expect(lease.startedOver).toBeDefined();
      expect(replyOf(await collect(lease, `echo: ${word}`))).toBe(word);
      process.kill(lease.pid, "SIGKILL"); // before the turn is stored
      await until("the exit of the killed agent", () => exits() === n + 1);
    }
    const text = await readFile(path, "utf8");
    expect([text.includes("echo: two"), text.includes("echo: three")]).toEqual([false, true]);
  }, 60_000);
});
