/** A workspace that becomes each person's, and everybody's again: no file is lost, doubled or opened to others, wherever a start is interrupted. */
import { expect, test } from "bun:test";
import { mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import { OPERATOR } from "../../contracts/ids.ts";
import { systemClock } from "../../kit/clock.ts";
import { deferred } from "../../kit/deferred.ts";
import { personFolder } from "../../kit/person-folder.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { bootId, identify } from "../process/proc.ts";
import type { Scope } from "./folders.ts";
import { type SettleDeps, settleWorkspaces } from "./settle.ts";

const BACKUP = "/backups/pi-gateway-20260301T102030Z.tar.gz";
const DAY_MS = 86_400_000;

/** A state directory with these files in `workspace/`, and starts of a gateway on it. */
async function world(files: Readonly<Record<string, string>> = {}) {
  const home = await tempHome();
  const space = join(home.path, "workspace");
  const own = personFolder(space, OPERATOR);
  const clock = createFakeClock(Date.UTC(2026, 2, 1, 10, 20, 30));
  const log = recordingLog();
  const backups: string[] = [];
  await mkdir(space);
  for (const [name, text] of Object.entries(files)) await put(join(space, name), text);
  const start = (scope: Scope, more: Partial<SettleDeps> = {}, path = space) => {
    const backUp = async () => {
      backups.push((await filesIn(space)).join(" "));
      return BACKUP;
    };
    return settleWorkspaces({ clock, log, backUp, ...more }, home.path, [{ path, scope }]);
  };
  return {
    home: home.path,
    space,
    own,
    clock,
    log,
    /** What was in the workspace when each was made. */
    backups,
    start,
    /** Paths below the operator's own folder, and everything else. */
    ofOperator: () => filesIn(own),
    files: () => filesIn(space),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, text);
}

/** Every file and link, as paths below the folder. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map((entry) => relative(folder, join(entry.parentPath, entry.name))).toSorted();
}

test("files of a shared workspace are the operator's own when each person gets a folder, after a backup, and the owner is told", async () => {
  await using w = await world({ "notes.txt": "kept", "project/main.ts": "code", ".hidden": "too" });
  await w.start("agent");
  let steps = 0;
  const notices = await w.start("person", { goesOn: () => void steps++ });
  expect(steps).toBe(3); // whoever waits for the start is told that it goes on
  expect(await w.ofOperator()).toEqual([".hidden", "notes.txt", "project/main.ts"]);
  expect(await readdir(w.space)).toEqual(["people"]);
  expect(w.backups).toEqual([".hidden notes.txt project/main.ts"]);
  expect(notices()).toEqual([expect.stringContaining(`was moved to ${w.own}, the operator's own`)]);
  expect(notices()[0]).toContain(BACKUP);
  expect(w.log.lines.map(({ words }) => words)).toEqual([
    "shared workspace is backed up before its files are moved",
    "shared workspace moved",
  ]);
});

test("the sentence about a move is in the status for a week, also of later starts, which move and back up nothing more", async () => {
  await using w = await world({ "notes.txt": "kept" });
  await w.start("person");
  await put(join(w.space, "by-hand.txt"), "the owner's");
  const later = await w.start("person");
  expect([later().length, w.backups.length]).toEqual([1, 1]);
  expect(await w.files()).toContain("by-hand.txt");
  await w.clock.advance(7 * DAY_MS);
  expect(later()).toEqual([]);
});

test("a state directory of an earlier version, of which no start has a record, is treated like one that was shared", async () => {
  await using w = await world({ "notes.txt": "kept", "people/web-user-ann-0123456789ab/hers.txt": "ann" });
  await w.start("person");
  expect(await w.ofOperator()).toEqual(["notes.txt"]);
  expect(await w.files()).toContain("people/web-user-ann-0123456789ab/hers.txt");
});

test("an empty workspace becomes each person's without a backup and without a word", async () => {
  await using w = await world();
  expect((await w.start("person"))()).toEqual([]);
  expect([w.backups, await readdir(w.space)]).toEqual([[], []]);
});

test("the checklist of the heartbeat stays where the gateway reads it", async () => {
  await using w = await world({ "HEARTBEAT.md": "- look", "notes.txt": "kept" });
  await w.start("person");
  expect(await readFile(join(w.space, "HEARTBEAT.md"), "utf8")).toBe("- look");
  expect(await w.ofOperator()).toEqual(["notes.txt"]);
});

test("a workspace where agents and people both work stays as it is", async () => {
  await using w = await world({ "notes.txt": "kept", "people/web-user-ann-0123456789ab/hers.txt": "ann" });
  for (const scope of ["agent", "mixed", "agent"] as const) expect((await w.start(scope))()).toEqual([]);
  expect(await w.files()).toEqual(["notes.txt", "people/web-user-ann-0123456789ab/hers.txt"]);
});

test("links are moved and not followed, and names that are no text are moved as they are", async () => {
  await using w = await world({ "notes.txt": "kept" });
  await put(join(w.home, "outside", "secret"), "secret");
  await symlink(join(w.home, "outside"), join(w.space, "folder-link"));
  await symlink("../token", join(w.space, "file-link"));
  const odd = Buffer.concat([Buffer.from(`${w.space}/odd-`), Buffer.from([0xff, 0xfe])]);
  await writeFile(odd, "odd");
  await w.start("person");
  expect(await readlink(join(w.own, "folder-link"))).toBe(join(w.home, "outside"));
  expect(await readlink(join(w.own, "file-link"))).toBe("../token");
  expect(await readdir(join(w.home, "outside"))).toEqual(["secret"]);
  const names = await readdir(w.own, { encoding: "buffer" });
  expect(names.map((name) => name.toString("hex"))).toContain(Buffer.from("odd-").toString("hex") + "fffe");
});

test.each([
  ["a link", async (w: { space: string; home: string }) => symlink(join(w.home, "outside"), join(w.space, "people"))],
  ["a file", async (w: { space: string }) => writeFile(join(w.space, "people"), "in the way")],
  ["a folder", async (w: { space: string }) => put(join(personFolder(w.space, OPERATOR), "AGENTS.md"), "obey")],
])(
  "%s that an agent has made in the place of people's folders is moved with the rest, and nobody's workspace",
  async (_name, plant) => {
    await using w = await world();
    await mkdir(join(w.home, "outside"));
    await w.start("agent");
    await plant(w);
    await w.start("person");
    expect(await readdir(join(w.home, "outside"))).toEqual([]);
    expect(await readdir(w.own)).toEqual(["people.shared"]);
  },
);

test("a link in the place of people's folders is not followed in a state directory of an earlier version either", async () => {
  await using w = await world({ "notes.txt": "kept" });
  await mkdir(join(w.home, "outside"));
  await symlink(join(w.home, "outside"), join(w.space, "people"));
  await w.start("person");
  expect(await readdir(join(w.home, "outside"))).toEqual([]);
  expect(await w.ofOperator()).toEqual(["notes.txt", "people.shared"]);
});

test("a link among the folders of people is moved to the operator's, so that no workspace leads elsewhere", async () => {
  await using w = await world({ "notes.txt": "kept" });
  const ann = personFolder(w.space, "web:user:ann");
  await put(join(ann, "hers.txt"), "ann");
  await mkdir(join(w.home, "outside"));
  await symlink(join(w.home, "outside"), w.own);
  await w.start("person");
  expect(await readdir(join(w.home, "outside"))).toEqual([]);
  expect(await filesIn(ann)).toEqual(["hers.txt"]);
  expect(await w.ofOperator()).toEqual([relative(join(w.space, "people"), `${w.own}.shared`), "notes.txt"].toSorted());
});

test("an operator's folder that holds something gets the files in a folder of their own", async () => {
  await using w = await world({ "notes.txt": "shared" });
  await w.start("person");
  await w.start("agent");
  await put(join(w.space, "notes.txt"), "shared again");
  await w.start("person");
  expect(await w.ofOperator()).toEqual(["notes.txt", "shared-workspace-20260301T102030Z/notes.txt"]);
  expect(await readFile(join(w.own, "notes.txt"), "utf8")).toBe("shared");
});

test("a workspace that is everybody's again says where the files of people lie", async () => {
  await using w = await world({ "notes.txt": "kept" });
  await w.start("person");
  const notices = await w.start("agent");
  expect(notices()).toEqual([expect.stringContaining(join(w.space, "people"))]);
  expect(await w.ofOperator()).toEqual(["notes.txt"]);
  expect((await w.start("agent"))()).toEqual(notices());
});

test("a workspace that is everybody's again before anybody had a file of their own needs no sentence", async () => {
  await using w = await world();
  await w.start("person");
  expect((await w.start("agent"))()).toEqual([]);
});

test("a folder that no agent works in any more is forgotten", async () => {
  await using w = await world();
  await w.start("agent", {}, join(w.home, "other"));
  await w.start("agent");
  const text = await readFile(join(w.home, "workspaces.json"), "utf8");
  expect(Object.keys((JSON.parse(text) as { folders: object }).folders)).toEqual(["workspace"]);
});

test("processes that a killed gateway left in the workspace are ended before its files are moved", async () => {
  await using w = await world({ "notes.txt": "kept" });
  const left = Bun.spawn(["sleep", "60"], { cwd: w.space });
  const note = { ...identify(left.pid), id: "", boot: bootId(), owner: { pid: 4_194_303, startTime: "1" } };
  await put(join(w.home, "run", "agents", `${left.pid}.json`), JSON.stringify(note));
  let aliveAtTheBackup = true;
  const backUp = async () => {
    aliveAtTheBackup = identify(left.pid) !== null;
    return BACKUP;
  };
  await w.start("person", { backUp, clock: systemClock }); // an end takes real time
  left.kill();
  expect(aliveAtTheBackup).toBe(false);
});

test.each([
  ["of the owner's choice", async (w: { home: string }) => join(w.home, "..", `${w.home}-elsewhere`)],
  ["that is a part of the state directory", async (w: { home: string }) => join(w.home, "sessions")],
  ["that is the state directory", async (w: { home: string }) => w.home],
])("a workspace %s is left as it is, and the owner is told where its files lie", async (_name, pathOf) => {
  await using w = await world();
  const path = await pathOf(w);
  await put(join(path, "notes.txt"), "kept");
  const notices = await w.start("person", {}, path);
  expect(notices()).toEqual([expect.stringContaining(`What was in ${path} before stays there`)]);
  expect(notices()[0]).toContain(personFolder(path, OPERATOR));
  expect([await readFile(join(path, "notes.txt"), "utf8"), w.backups]).toEqual(["kept", []]);
  expect((await w.start("person", {}, path))()).toEqual(notices());
  await rm(path, { recursive: true });
});

test("a workspace that is a link to another place is left as it is, and the owner is told", async () => {
  await using w = await world();
  await rm(w.space, { recursive: true });
  await put(join(w.home, "disk", "notes.txt"), "kept");
  await symlink(join(w.home, "disk"), w.space);
  expect((await w.start("person"))()).toEqual([expect.stringContaining("stays there")]);
  expect(await filesIn(join(w.home, "disk"))).toEqual(["notes.txt"]);
});

test("without a backup nothing is moved, the owner is told why, and the next start tries again beside what people made meanwhile", async () => {
  await using w = await world({ "notes.txt": "kept" });
  await w.start("agent");
  const backUp = async (): Promise<string> => {
    throw new GatewayError("store_failed", "full", { say: "There is no room for a backup." });
  };
  const notices = await w.start("person", { backUp });
  expect(notices()).toEqual([expect.stringContaining("There is no room for a backup. No agent reaches these files")]);
  expect(await w.files()).toEqual(["notes.txt"]);
  const ann = personFolder(w.space, "web:user:ann");
  await put(join(ann, "hers.txt"), "ann");
  await w.start("person");
  expect([await w.ofOperator(), await filesIn(ann)]).toEqual([["notes.txt"], ["hers.txt"]]);
});

test("an entry that cannot be moved stays, is named in the log and counted in the sentence; the others are moved", async () => {
  await using w = await world({ "mounted/x": "1", "notes.txt": "kept" });
  const move: SettleDeps["rename"] = async (from, to) => {
    if (from.toString().endsWith("mounted")) throw new Error("EBUSY");
    await rename(from, to);
  };
  const notices = await w.start("person", { rename: move });
  expect(await w.files()).toEqual(["mounted/x", relative(w.space, join(w.own, "notes.txt"))]);
  expect(notices()[0]).toContain(`1 could not be moved and stay in ${w.space}`);
  expect(w.log.lines.map(({ words }) => words)).toContain("entry of the shared workspace not moved");
});

/** A start that is killed: at the beginning of rename number `at`, or at its end. Resolves when it has come so far. */
async function killedStart(
  w: Awaited<ReturnType<typeof world>>,
  at: number,
  when: "before" | "after",
): Promise<boolean> {
  const reached = deferred<boolean>();
  const never = new Promise<never>(() => undefined);
  let count = 0;
  const move: SettleDeps["rename"] = async (from, to) => {
    const isLast = count++ === at;
    if (!isLast || when === "after") await rename(from, to);
    if (!isLast) return;
    reached.resolve(true);
    await never;
  };
  const whole = w.start("person", { rename: move }).then(() => false);
  return Promise.race([whole, reached.promise]);
}

const POINTS = [0, 1, 2, 3].flatMap((at) => [[at, "before"] as const, [at, "after"] as const]);

test.each(POINTS)(
  "a start killed at rename %d (%s it) loses and doubles nothing: the next one goes on",
  async (at, when) => {
    await using w = await world({ "a.txt": "a", "b/c.txt": "c", "d.txt": "d" });
    await w.start("agent");
    await put(join(w.space, "people", "planted.txt"), "planted"); // the first rename puts it aside
    expect(await killedStart(w, at, when)).toBe(true);
    const notices = await w.start("person");
    expect(await w.ofOperator()).toEqual(["a.txt", "b/c.txt", "d.txt", "people.shared/planted.txt"]);
    expect(await w.files()).toHaveLength(4);
    expect(notices()).toHaveLength(1);
    expect(w.backups.length).toBe(at === 0 ? 2 : 1); // before the first rename of a file, nothing is known of the one that was killed
  },
);

test("a file that was made while a move was interrupted replaces none that was moved before", async () => {
  await using w = await world({ "a.txt": "first", "b.txt": "b" });
  expect(await killedStart(w, 1, "before")).toBe(true);
  for (const name of ["a.txt", "b.txt"]) await put(join(w.space, name), "second");
  await w.start("person");
  expect((await w.ofOperator()).length).toBe(3);
  const [moved = ""] = (await w.ofOperator()).filter((name) => name.endsWith(".2"));
  expect(await readFile(join(w.own, moved), "utf8")).toBe("second");
  expect(await readFile(join(w.own, moved.replace(".2", "")), "utf8")).not.toBe("second");
});

test("a move that was interrupted is finished also when the workspace is everybody's again, and the owner is told where the files lie", async () => {
  await using w = await world({ "a.txt": "a", "b.txt": "b" });
  expect(await killedStart(w, 0, "after")).toBe(true);
  const notices = await w.start("agent");
  expect(await w.ofOperator()).toEqual(["a.txt", "b.txt"]);
  expect(notices()).toEqual([expect.stringContaining(`one folder for everybody again. What people had`)]);
});

test("a damaged record is as none: the workspace is looked at anew", async () => {
  await using w = await world({ "notes.txt": "kept" });
  for (const text of ["", "{", '{"folders":{"workspace":{"scope":"person"}}}', '{"folders":{"workspace":null}}']) {
    await writeFile(join(w.home, "workspaces.json"), text);
    await w.start("person");
    expect(await w.ofOperator()).toEqual(["notes.txt"]);
    await rename(join(w.own, "notes.txt"), join(w.space, "notes.txt"));
  }
});
