/** `pi-gw doctor --fix` over a real state directory. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmod, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../kit/clock.ts";
import { openStateDirectory, openStore } from "../../store/index.ts";
import { cliFixture, fakeGateway } from "../../testing/cli-fixture.ts";
import { row } from "../../testing/contracts/store/store-world.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import type { DoctorProbes } from "./probes.ts";

const doctorProbes: DoctorProbes = {
  bunVersion: "1.4.4",
  pi: async () => ({ ok: true, say: "found" }),
  sandbox: async () => ({ tier: "full", because: "It works here.", leaks: [], advice: null }),
  freeBytes: async () => 10_000_000_000,
  portIsFree: () => true,
};
const GONE = 4_000_000; // above every process number of a usual machine

interface Line {
  readonly check: string;
  readonly state: string;
  readonly say: string;
}

async function doctor(fx: Awaited<ReturnType<typeof cliFixture>>, ...flags: string[]) {
  const before = fx.out().length;
  const code = await fx.run("doctor", "--json", ...flags);
  const lines = fx
    .out()
    .slice(before)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  return { code, lines, fixed: lines.filter(({ state }) => state === "fixed") };
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

/** A database whose search index cannot be read. */
async function damagedIndex(home: string): Promise<void> {
  {
    await using store = await openStore({ clock: systemClock, ids: createSeqIds(), log: recordingLog() }, { home });
    for (let n = 0; n < 50; n++) await store.inbox.accept(row(`in${n}`, "a"));
  }
  const file = join(home, "gateway.db");
  const pages = pagesOf(file);
  const bytes = await readFile(file);
  for (const page of pages) bytes.fill(0, (page - 1) * 4_096, page * 4_096);
  await writeFile(file, bytes);
}

function pagesOf(file: string): readonly number[] {
  using db = new Database(file, { readonly: true });
  const rows = db.query<{ pageno: number }, []>("select pageno from dbstat where name = 'message_index_data'").all();
  return rows.map(({ pageno }) => pageno);
}

test("file modes, the notes of a dead gateway and the search index are mended, each with a line, and a second time there is nothing to do", async () => {
  await using fx = await cliFixture({ doctorProbes });
  await damagedIndex(fx.home);
  await mkdir(join(fx.home, "sessions"), { mode: 0o755 });
  await chmod(join(fx.home, "sessions"), 0o755);
  await writeFile(join(fx.home, "token"), "aGoodToken-7xQ2mV9pL4kR8sT1wZ6yB3nC\n");
  await chmod(join(fx.home, "token"), 0o644);
  await writeFile(
    join(fx.home, "gateway.json"),
    JSON.stringify({ pid: GONE, url: "http://127.0.0.1:1", startedAt: 1 }),
    { mode: 0o600 },
  );
  const before = await doctor(fx);
  expect([before.fixed, before.lines.find(({ check }) => check === "database")?.state]).toEqual([[], "note"]);
  const { code, lines, fixed } = await doctor(fx, "--fix");
  expect(code).toBe(0);
  expect(fixed.map(({ check }) => check)).toEqual(["file modes", "file modes", "gateway", "database"]);
  expect(lines.filter(({ check, state }) => check === "database" && state !== "fixed")).toMatchObject([
    { state: "ok" },
  ]);
  expect([await modeOf(join(fx.home, "sessions")), await modeOf(join(fx.home, "token"))]).toEqual(["700", "600"]);
  expect(await Bun.file(join(fx.home, "gateway.json")).exists()).toBe(false);
  expect((await doctor(fx, "--fix")).fixed).toEqual([]);
});

test("a missing state directory is made, private", async () => {
  await using fx = await cliFixture({ doctorProbes });
  const home = join(fx.home, "new");
  expect((await doctor(fx, "--fix", "--home", home)).fixed).toMatchObject([{ check: "state directory" }]);
  expect(await modeOf(home)).toBe("700");
  await rm(home, { recursive: true });
});

test("while a gateway runs only file modes are mended, and while one holds the state directory nothing of it is touched", async () => {
  await using fx = await cliFixture({ doctorProbes });
  await damagedIndex(fx.home);
  {
    await using _gateway = await fakeGateway(fx.home, () => Response.json({}));
    await chmod(join(fx.home, "gateway.json"), 0o600);
    await chmod(join(fx.home, "token"), 0o644);
    expect((await doctor(fx, "--fix")).fixed).toMatchObject([{ check: "file modes" }]);
    expect(await Bun.file(join(fx.home, "gateway.json")).exists()).toBe(true);
  }
  await using _held = await openStateDirectory({ log: recordingLog() }, fx.home);
  const { fixed, lines } = await doctor(fx, "--fix");
  expect(fixed).toEqual([]);
  expect(lines.find(({ say }) => say.startsWith("Nothing else was mended"))?.state).toBe("note");
});
