import { expect, test } from "bun:test";
import { mkdir, readdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "../../testing/temp-home.ts";
import { copySession, type SessionCopy } from "./session-copy.ts";
import { headerLine } from "./session-file.ts";

const FROM = "session-one-1.jsonl";
const TO = "session-two-2.jsonl";
const BEGUN = 5_000;
const header = headerLine({ id: "ses_1", at: BEGUN, cwd: "/srv/agent" });
const entry = (id: string) => `${JSON.stringify({ type: "message", id, parentId: null, text: "grüße" })}\n`;
const BYTES = Buffer.byteLength(header + entry("a"));

const LOCAL = { isLocal: true, find: async () => null, read: () => [] as never };

async function world() {
  const home = await tempHome();
  const folder = join(home.path, "sessions");
  await mkdir(folder);
  await Bun.write(join(folder, FROM), header + entry("a") + entry("b"));
  const copy = (more: Partial<SessionCopy> = {}, files: Parameters<typeof copySession>[2] = LOCAL) =>
    copySession(home.path, { from: FROM, to: TO, id: "ses_2", bytes: BYTES, endedAt: BEGUN, ...more }, files);
  return { home: home.path, folder, copy, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

test("the copy of a session file holds its beginning at the same positions, under an id of its own", async () => {
  await using fx = await world();
  expect(await fx.copy()).toEqual({ kind: "copied", change: null });
  const text = await Bun.file(join(fx.folder, TO)).text();
  expect(Buffer.byteLength(text)).toBe(BYTES);
  const [first = "", ...rest] = text.split("\n");
  expect(JSON.parse(first)).toMatchObject({ type: "session", id: "ses_2", cwd: "/srv/agent", version: 3 });
  expect(rest.join("\n")).toBe(entry("a"));
  expect(await Bun.file(join(fx.folder, FROM)).text()).toBe(header + entry("a") + entry("b"));
});

test("a session file is not copied when it is gone, shorter, cut inside a line, younger than the turn, or a link", async () => {
  await using fx = await world();
  await symlink(join(fx.folder, FROM), join(fx.folder, "session-link-3.jsonl"));
  const cases: readonly Partial<SessionCopy>[] = [
    { from: "session-none-9.jsonl" },
    { bytes: BYTES * 10 },
    { bytes: BYTES - 1 },
    { bytes: 10 },
    { endedAt: BEGUN - 1 },
    { from: "session-link-3.jsonl" },
  ];
  for (const one of cases) expect([one, await fx.copy(one)]).toEqual([one, { kind: "lost" }]);
  expect(await fx.copy({ bytes: 2 ** 40 })).toEqual({ kind: "too_large" });
  expect(await readdir(fx.folder)).not.toContain(TO);
});

test("a session file that a process has is busy, and a name that is taken is not written over", async () => {
  await using fx = await world();
  await fx.copy();
  await expect(fx.copy({ bytes: Buffer.byteLength(header + entry("a") + entry("b")) })).rejects.toThrow("EEXIST");
  const visit = join(fx.home, "run", "sessions", "process-1");
  await mkdir(visit, { recursive: true });
  await Bun.write(join(visit, FROM), "");
  expect(await fx.copy({ to: "session-three-3.jsonl" })).toEqual({ kind: "busy" });
});

test("a session file that only the database has is copied from there, and its copy is handed on to be stored", async () => {
  await using fx = await world();
  const whole = await Bun.file(join(fx.folder, FROM)).bytes();
  await rm(join(fx.folder, FROM));
  const stored = { bytes: whole.byteLength, digest: "", canGrow: true };
  const files = {
    isLocal: false,
    find: async (name: string) => (name === FROM ? stored : null),
    async *read() {
      yield whole.subarray(0, 100);
      yield whole.subarray(100);
    },
  };
  const copied = await fx.copy({}, files);
  const data = await Bun.file(join(fx.folder, TO)).bytes();
  expect(data.byteLength).toBe(BYTES);
  const digest = new Bun.CryptoHasher("sha256").update(data).digest("hex");
  expect(copied).toMatchObject({ kind: "copied", change: { name: TO, grownFrom: null, from: 0, digest } });
  expect(await fx.copy({ from: "session-none-9.jsonl", to: "session-four-4.jsonl" }, files)).toEqual({ kind: "lost" });
});
