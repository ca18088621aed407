/** Writes of the configuration seen from the disk: what is synced before what, and what happens when the owner writes at the same moment. */
import { beforeEach, describe, expect, mock, test } from "bun:test";
import * as fs from "node:fs/promises";
import { basename, join } from "node:path";
import { silentLog } from "../../kit/log.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { tempHome } from "../../testing/temp-home.ts";

const real = { ...fs };
let steps: string[] = [];
/** Of files that are made, from their first moment on. */
let modes: (readonly [name: string, mode: unknown])[] = [];
let beforeOpen: (path: string) => Promise<void> = async () => undefined;
let afterStat: (path: string) => Promise<void> = async () => undefined;
let diskIsFull = false;
/** The system hands over a file in many small pieces. */
let fewAtOnce = false;
let beforeSync: () => Promise<void> = async () => undefined;
let beforeRename: (from: string) => Promise<void> = async () => undefined;

/** Notes what happens to each file, by its name; a temporary file is `temp`, and a folder `folder`. */
async function open(path: string, ...rest: unknown[]) {
  await beforeOpen(path);
  const [, mode] = rest;
  if (mode !== undefined) modes.push([nameOf(path), mode]);
  const handle = await (real.open as (...args: unknown[]) => Promise<fs.FileHandle>)(path, ...rest);
  const name = (await handle.stat()).isDirectory() ? "folder" : nameOf(path);
  return new Proxy(handle, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const full = Object.assign(new Error("full"), { code: "ENOSPC" });
        if (key === "sync" && diskIsFull) return beforeSync().then(() => Promise.reject(full));
        const run = (): unknown => (value as (...given: unknown[]) => unknown).apply(target, args);
        if (key === "stat") return Promise.resolve(run()).then(async (stat) => (await afterStat(path), stat));
        if (key === "read" && fewAtOnce) args[2] = Math.min(Number(args[2]), 3);
        if (!["writeFile", "sync", "close"].includes(String(key)) || name === "read") return run();
        const begun = key === "writeFile" ? slowly().then(run) : Promise.resolve(run());
        // noted when it is done: a step that begins before the one before it has ended is out of order
        return begun.then(() => void steps.push(`${String(key)} ${name}`));
      };
    },
  });
}
const slowly = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const nameOf = (path: string): string => (basename(path).includes(".tmp-") ? "temp" : basename(path));
const rename = async (from: string, to: string): Promise<void> => {
  steps.push(`rename ${nameOf(from)} to ${nameOf(to)}`);
  await beforeRename(from);
  await real.rename(from, to);
};
void mock.module("node:fs/promises", () => ({ ...real, open, rename }));
const { replaceFile, writeBackup } = await import("./write-file.ts");
const { readConfigText } = await import("./read-file.ts");
const { migrateConfig } = await import("./migrate.ts");
const { findConfigFile } = await import("./paths.ts");

beforeEach(() => {
  steps = [];
  modes = [];
  beforeOpen = async () => undefined;
  afterStat = async () => undefined;
  beforeSync = async () => undefined;
  beforeRename = async () => undefined;
  diskIsFull = false;
});

describe("after a power cut", () => {
  test("a replaced file is the old one or the new one, whole: the text is synced before the rename, and the folder after it", async () => {
    await using home = await tempHome();
    await replaceFile(join(home.path, "a.jsonc"), "{}");
    expect(steps).toEqual([
      ...["writeFile temp", "sync temp", "close temp"],
      ...["rename temp to a.jsonc", "sync folder", "close folder"],
    ]);
  });

  test("a backup is there: its text and its name are synced before the original is touched", async () => {
    await using home = await tempHome();
    expect(basename(await writeBackup(join(home.path, "a.jsonc"), "{}"))).toBe("a.jsonc.bak-1");
    expect(steps).toEqual([
      ...["writeFile a.jsonc.bak-1", "sync a.jsonc.bak-1", "close a.jsonc.bak-1"],
      ...["sync folder", "close folder"],
    ]);
  });
});

test("a new file can be read by nobody else, not even before its mode is set", async () => {
  await using home = await tempHome();
  await replaceFile(join(home.path, "a.jsonc"), "{}");
  await writeBackup(join(home.path, "a.jsonc"), "{}");
  expect(modes).toEqual([
    ["temp", 0o600],
    ["a.jsonc.bak-1", 0o600],
  ]);
});

test("a file with old names is rewritten when its backup is on the disk, and told when it is itself", async () => {
  await using home = await tempHome();
  const path = join(home.path, "a.jsonc");
  await real.writeFile(path, '{"queue": {"maxPending": 9}}');
  await migrateConfig({ log: silentLog }, path, () => undefined);
  expect(steps.filter((step) => !step.endsWith(" a.jsonc") || step.startsWith("rename"))).toEqual([
    ...["writeFile a.jsonc.bak-1", "sync a.jsonc.bak-1", "close a.jsonc.bak-1", "sync folder", "close folder"],
    ...["writeFile temp", "sync temp", "close temp", "rename temp to a.jsonc", "sync folder", "close folder"],
  ]);
});

test("a file that could not be written whole is removed, because it holds secrets: a temporary one and a backup", async () => {
  await using home = await tempHome();
  const path = join(home.path, "a.jsonc");
  diskIsFull = true;
  await expect(replaceFile(path, "{}")).rejects.toThrow("full");
  await expect(writeBackup(path, "{}")).rejects.toThrow("full");
  diskIsFull = false;
  beforeRename = () => Promise.reject(new Error("no rename here"));
  await expect(replaceFile(path, "{}")).rejects.toThrow("no rename here");
  expect(await real.readdir(home.path)).toEqual([]);
});

test("the reason of a write that failed is told, also when what it left cannot be removed", async () => {
  await using home = await tempHome();
  const path = join(home.path, "a.jsonc");
  diskIsFull = true;
  beforeSync = () => real.rm(home.path, { recursive: true });
  await expect(replaceFile(path, "{}")).rejects.toThrow("full");
  await real.mkdir(home.path);
  await expect(writeBackup(path, "{}")).rejects.toThrow("full");
  await real.mkdir(home.path);
  diskIsFull = false;
  beforeSync = async () => undefined;
  beforeRename = async (from) => {
    await real.rm(from);
    throw new Error("no rename here");
  };
  await expect(replaceFile(path, "{}")).rejects.toThrow("no rename here");
});

test("a file has a thousand backups, and the next one is refused in a sentence", async () => {
  await using home = await tempHome();
  const path = join(home.path, "a.jsonc");
  for (let n = 1; n < 1_000; n++) await real.writeFile(`${path}.bak-${n}`, "");
  expect(basename(await writeBackup(path, "{}"))).toBe("a.jsonc.bak-1000");
  await expect(writeBackup(path, "{}")).rejects.toThrow("there are already 1000 backups of this file");
});

test("a file is written beside seven temporary ones that were left, and an eighth is told to its owner", async () => {
  await using home = await tempHome();
  const path = join(home.path, "a.jsonc");
  const left = (n: number) => real.writeFile(join(home.path, `.a.jsonc.tmp-${process.pid}-${n}`), "");
  for (let n = 0; n < 7; n++) await left(n);
  await replaceFile(path, "{}");
  await left(7);
  await expect(replaceFile(path, "{}")).rejects.toThrow("too many temporary files");
});

test.each([
  [1024 * 1024, "text"],
  [1024 * 1024 + 1, "unreadable"],
])("a configuration file of %d bytes is %s", async (bytes, kind) => {
  await using home = await tempHome();
  const path = join(home.path, "a.jsonc");
  await real.writeFile(path, " ".repeat(bytes));
  expect((await readConfigText(path, "follow")).kind).toBe(kind as never);
});

test("a configuration file that grows while it is read is read up to the limit and called too large", async () => {
  await using home = await tempHome();
  const path = join(home.path, "a.jsonc");
  await real.writeFile(path, "{}");
  afterStat = () => real.appendFile(path, " ".repeat(1024 * 1024));
  const because = "It is larger than 1024 KiB.";
  expect(await readConfigText(path, "follow")).toEqual({ kind: "unreadable", because });
});

test("an owner who saves while old names are rewritten keeps their text", async () => {
  await using home = await tempHome();
  const path = join(home.path, "pi-gateway.jsonc");
  await real.writeFile(path, '{ "gateway": { "token": "a-token-nobody-guesses-4711" } }');
  beforeOpen = async (opened) => {
    if (opened.includes(".bak-")) await real.writeFile(path, '{ "queue": {} } // mine');
  };
  const { warnings, backup } = await migrateConfig({ log: silentLog }, path, () => undefined);
  expect(await real.readFile(path, "utf8")).toBe('{ "queue": {} } // mine');
  expect([backup, warnings[0]?.message]).toEqual([null, expect.stringContaining("changed at the same moment")]);
});

test("a file with old names on a full disk stays as it is and in force, and why is told and logged", async () => {
  await using home = await tempHome();
  const path = join(home.path, "pi-gateway.jsonc");
  const text = '{"queue": {"maxPending": 9}}';
  await real.writeFile(path, text);
  diskIsFull = true;
  const log = recordingLog();
  const { migrated, backup, warnings, text: inForce } = await migrateConfig({ log }, path, () => undefined);
  expect([inForce, backup, migrated.length, await real.readFile(path, "utf8")]).toEqual([text, null, 1, text]);
  expect(warnings[0]?.message).toContain("the file was not rewritten: the system says ENOSPC.");
  expect(log.lines.map(({ words }) => words)).toEqual(["configuration could not be rewritten"]);
  expect(await real.readdir(home.path)).toEqual(["pi-gateway.jsonc"]);
});

test("a rewrite of old names after which a setting would have another value is not written", async () => {
  await using home = await tempHome();
  const path = join(home.path, "pi-gateway.jsonc");
  const text = '{ "queue": { "maxPending": "${LIMIT}" } }';
  await real.writeFile(path, text);
  const limits = ["70", "80"]; // before the rewrite, and after it
  const { warnings, backup } = await migrateConfig({ log: silentLog }, path, () => limits.shift());
  expect([await real.readFile(path, "utf8"), await real.readdir(home.path)]).toEqual([text, ["pi-gateway.jsonc"]]);
  expect([backup, warnings[0]?.message]).toEqual([null, expect.stringContaining("could not rewrite it safely")]);
});

test("a written file is private and can be read by its owner, whatever the umask of the process", async () => {
  await using home = await tempHome();
  const path = join(home.path, "a.jsonc");
  for (const mask of [0o000, 0o277, 0o777]) {
    const before = process.umask(mask);
    try {
      await replaceFile(path, "{}");
    } finally {
      process.umask(before);
    }
    expect([mask, (await real.stat(path)).mode & 0o777]).toEqual([mask, 0o600]);
  }
});

test("a configuration file that cannot be looked at is reported, and not skipped for the defaults", async () => {
  await using home = await tempHome();
  const path = join(home.path, "pi-gateway.jsonc");
  await real.symlink(path, path);
  expect(findConfigFile({ home: home.path, flag: undefined, cwd: home.path })).toBe(path);
});

test("a file that cannot be made is told with the reason of the system, and not as a name that is taken", async () => {
  await using home = await tempHome();
  const path = join(home.path, "not-there", "a.jsonc");
  await expect(replaceFile(path, "{}")).rejects.toMatchObject({ code: "ENOENT" });
  await expect(writeBackup(path, "{}")).rejects.toMatchObject({ code: "ENOENT" });
});

test("a file that is read is closed, whatever is wrong with it", async () => {
  await using home = await tempHome();
  const at = (name: string): string => join(home.path, name);
  await real.writeFile(at("text"), "{}");
  await real.writeFile(at("binary"), new Uint8Array([0xff, 0xfe, 0x00]));
  await real.writeFile(at("large"), " ".repeat(1024 * 1024 + 1));
  await real.mkdir(at("folder"));
  const kinds: unknown[] = [];
  for (const name of ["text", "binary", "large", "folder", "missing"]) {
    steps = [];
    const { kind } = await readConfigText(at(name), "follow");
    kinds.push([name, kind, steps.map((step) => step.split(" ")[0])]);
  }
  expect(kinds).toEqual([
    ["text", "text", ["close"]],
    ["binary", "unreadable", ["close"]],
    ["large", "unreadable", ["close"]],
    ["folder", "unreadable", ["close"]],
    ["missing", "missing", []],
  ]);
});

test("a file is read as it is written, with the mark of its encoding, so that it can be written back", async () => {
  await using home = await tempHome();
  const path = join(home.path, "a.jsonc");
  await real.writeFile(path, "\ufeff{}");
  expect(await readConfigText(path, "follow")).toMatchObject({ kind: "text", text: "\ufeff{}" });
});

test("a file that the system hands over piece by piece is read whole and in order", async () => {
  await using home = await tempHome();
  const path = join(home.path, "pieces");
  const text = '{ "gateway": { "port": 4711 } } // Gr\u00fc\u00dfe';
  await real.writeFile(path, text);
  fewAtOnce = true;
  try {
    expect(await readConfigText(path, "follow")).toMatchObject({ kind: "text", text });
  } finally {
    fewAtOnce = false;
  }
});
