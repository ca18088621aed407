/** Session files that visit a process: moved in, moved back, and never accepted as something else. */
import { expect, test } from "bun:test";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyMark } from "../../kit/copy-mark.ts";
import { silentLog } from "../../kit/log.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { childNotes, killOrphans } from "../process/orphans.ts";
import { beginVisit, endVisit, findVisit } from "./session-visit.ts";

const NAME = "session-a.jsonl";
const deps = { clock: createFakeClock(), log: silentLog };

async function visited() {
  const home = await tempHome();
  const folder = childNotes(home.path).visitFolder("a1");
  mkdirSync(join(home.path, "sessions"));
  const visit = { log: silentLog, kept: join(home.path, "sessions", NAME), visiting: join(folder.path, NAME) };
  writeFileSync(visit.kept, "one\n");
  beginVisit(visit);
  return { home: home.path, folder, visit, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

test("a session file is in one place only: with its process during a visit, where sessions are kept after it", async () => {
  await using one = await visited();
  expect([existsSync(one.visit.kept), existsSync(one.visit.visiting)]).toEqual([false, true]);
  writeFileSync(one.visit.visiting, "one\ntwo\n");
  endVisit(one.visit);
  endVisit(one.visit);
  expect([readFileSync(one.visit.kept, "utf8"), existsSync(one.visit.visiting)]).toEqual(["one\ntwo\n", false]);
});

test("a session file stays where it is kept when its process has ended meanwhile, and says so: another process may be asked", async () => {
  await using one = await visited();
  endVisit(one.visit);
  one.folder.remove(silentLog);
  expect(() => beginVisit(one.visit)).toThrow(expect.objectContaining({ code: "agent_exited" }));
  expect(readFileSync(one.visit.kept, "utf8")).toBe("one\n");
});

test("a session file that is gone is no matter of its process", async () => {
  await using one = await visited();
  expect(() => beginVisit(one.visit)).toThrow("ENOENT");
});

test.each<[string, (path: string, secret: string) => void]>([
  ["a link to a file of the gateway", (path, secret) => symlinkSync(secret, path)],
  ["a second name of another file", (path, secret) => linkSync(secret, path)],
  ["a folder", (path) => mkdirSync(path)],
  ["a pipe", (path) => void Bun.spawnSync(["mkfifo", path])],
])("a session file that the agent has replaced by %s does not return", async (_what, replace) => {
  await using one = await visited();
  const secret = join(one.home, "token");
  writeFileSync(secret, "secret");
  Bun.spawnSync(["rm", one.visit.visiting]);
  replace(one.visit.visiting, secret);
  endVisit(one.visit);
  expect([existsSync(one.visit.kept), existsSync(one.visit.visiting)]).toEqual([false, false]);
  expect(readFileSync(secret, "utf8")).toBe("secret");
});

test("a process that writes after its turn does not replace the session that went back", async () => {
  await using one = await visited();
  endVisit(one.visit);
  writeFileSync(one.visit.visiting, "stray\n");
  one.folder.remove(silentLog);
  expect([readFileSync(one.visit.kept, "utf8"), existsSync(one.folder.path)]).toEqual(["one\n", false]);
});

test("a process that ends in the middle of a turn gives back its session", async () => {
  await using one = await visited();
  expect(findVisit(one.home, NAME)).toBe(one.visit.visiting);
  one.folder.remove(silentLog);
  expect([readFileSync(one.visit.kept, "utf8"), findVisit(one.home, NAME)]).toEqual(["one\n", null]);
});

test("after a kill of the gateway its next start brings sessions back from the folders of processes that are gone, and from no others", async () => {
  await using one = await visited();
  const old = join(one.home, "run", "sessions", "1-1-b2");
  mkdirSync(old, { recursive: true });
  writeFileSync(join(old, "session-b.jsonl"), "b\n");
  writeFileSync(join(old, "notes.txt"), "not a session");
  await killOrphans(deps, one.home);
  expect(readdirSync(join(one.home, "sessions"))).toEqual(["session-b.jsonl"]);
  expect([existsSync(old), existsSync(one.visit.visiting)]).toEqual([false, true]);
});

test("a copy that a process reads ahead never takes the place of the session that another process has, whichever ends first", async () => {
  for (const endsFirst of ["reader", "worker"] as const) {
    await using one = await visited();
    const reader = childNotes(one.home).visitFolder("a0");
    writeFileSync(copyMark(join(reader.path, NAME)), "");
    writeFileSync(join(reader.path, NAME), "half of it");
    expect(findVisit(one.home, NAME)).toBe(one.visit.visiting);
    for (const folder of endsFirst === "reader" ? [reader, one.folder] : [one.folder, reader]) folder.remove(silentLog);
    expect([readFileSync(one.visit.kept, "utf8"), existsSync(reader.path)]).toEqual(["one\n", false]);
  }
});

test("a session that a process gets is not taken for a copy, although the mark of one was left there by a full disk", async () => {
  await using one = await visited();
  endVisit(one.visit);
  writeFileSync(copyMark(one.visit.visiting), "");
  beginVisit(one.visit);
  one.folder.remove(silentLog);
  expect(readFileSync(one.visit.kept, "utf8")).toBe("one\n");
});
