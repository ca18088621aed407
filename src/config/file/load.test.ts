/** Loading, falling back and migrating on a real disk. */
import { describe, expect, test } from "bun:test";
import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isGatewayError } from "../../contracts/errors.ts";
import { silentLog } from "../../kit/log.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import { checkConfigText, diffConfig, loadConfig, readEnvironment } from "../index.ts";
import { readConfigText } from "./read-file.ts";

const EXAMPLE = join(import.meta.dir, "../../../examples/pi-gateway.example.jsonc");
const FILE = "pi-gateway.jsonc";
const LAST_GOOD = "config.last-good.jsonc";
const TOKEN = "q7Vb2mXc9Lr4Tz8Wk1Hs6N";

async function fixture(env: Record<string, string> = {}) {
  const folder = await tempHome();
  const home = join(folder.path, "home");
  const cwd = join(folder.path, "cwd");
  await mkdir(home);
  await mkdir(cwd);
  const log = recordingLog();
  return {
    home,
    cwd,
    log,
    write: (text: string, name = FILE) => writeFile(join(home, name), text),
    read: (name = FILE) => readFile(join(home, name), "utf8"),
    mode: async (name: string) => (await stat(join(home, name))).mode & 0o777,
    files: async () => (await readdir(home)).toSorted(),
    load: (flag?: string) => loadConfig({ log }, { home, flag, cwd, environment: readEnvironment(env) }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (isGatewayError(error) && error.code === "config_invalid") return error.say;
    throw error;
  }
  throw new Error("it was not refused");
}

describe("where the file is found", () => {
  test("without one, everything has its default and nothing is written", async () => {
    await using fx = await fixture();
    const loaded = await fx.load();
    expect([loaded.source, loaded.path, loaded.config.gateway.port]).toEqual(["defaults", null, 18789]);
    expect(await fx.files()).toEqual([]);
  });

  test("--config comes first, then the state directory, then the working folder", async () => {
    await using fx = await fixture();
    await writeFile(join(fx.cwd, FILE), '{"gateway": {"port": 3}}');
    expect((await fx.load()).config.gateway.port).toBe(3);
    await fx.write('{"gateway": {"port": 2}}');
    expect((await fx.load()).config.gateway.port).toBe(2);
    await writeFile(join(fx.cwd, "mine.jsonc"), '{"gateway": {"port": 1}}');
    expect(await fx.load("mine.jsonc")).toMatchObject({
      path: join(fx.cwd, "mine.jsonc"),
      config: { gateway: { port: 1 } },
    });
  });

  test("a --config that does not exist is refused, even when another file would do", async () => {
    await using fx = await fixture();
    await fx.write("{}");
    expect(await refusal(fx.load("nowhere.jsonc"))).toContain(
      `There is no configuration file at ${join(fx.cwd, "nowhere.jsonc")}`,
    );
  });
});

describe("a broken file", () => {
  test("without a last good one is refused with every problem and its place", async () => {
    await using fx = await fixture();
    await fx.write('{\n  "gateway": {\n    "port": "abc",\n    "prot": 1\n  }\n}');
    expect((await refusal(fx.load())).split("\n")).toEqual([
      `The configuration in ${join(fx.home, FILE)} is not valid. Correct this and try again:`,
      '  pi-gateway.jsonc:3:13 gateway.port is "abc"; it must be a whole number from 0 to 65535.',
      "  pi-gateway.jsonc:4:5 gateway.prot is not a setting. Did you mean gateway.port?",
    ]);
  });

  test("is replaced by the last good one, and its problems are kept for the banner", async () => {
    await using fx = await fixture();
    await fx.write('{"gateway": {"port": 4711}}');
    await fx.load();
    await fx.write('{"gateway": {"port": ');
    const loaded = await fx.load();
    expect([loaded.source, loaded.config.gateway.port, loaded.path]).toEqual(["last-good", 4711, join(fx.home, FILE)]);
    expect(loaded.problems.length).toBeGreaterThan(0);
    expect(await fx.read()).toBe('{"gateway": {"port": ');
    expect(fx.log.lines.map((line) => line.words)).toEqual(["configuration is broken, the last good one is used"]);
  });

  test("is replaced by a last good one with old keys, which are understood and told as moved", async () => {
    await using fx = await fixture();
    await fx.write('{ "queue": { "maxPending": 7 } }', LAST_GOOD);
    await fx.write('{ "logging": { "level": "loud" } }');
    const { source, config, migrated } = await fx.load();
    expect([source, config.queue.maxTotal, migrated]).toEqual([
      "last-good",
      7,
      [{ from: "queue.maxPending", to: "queue.maxTotal" }],
    ]);
  });

  test("does not replace the last good one", async () => {
    await using fx = await fixture();
    await fx.write('{"gateway": {"port": 4711}}');
    await fx.load();
    await fx.write("");
    await fx.load();
    expect(await fx.read(LAST_GOOD)).toBe('{"gateway": {"port": 4711}}');
  });

  test.each([
    ["nothing but a misspelt section", '{"corn": {"maxRunsAtOnce": 2}}'],
    ["a misspelt section beside a right one", '{"cron": {"maxRunsAtOnce": 2}, "qeue": {}}'],
  ])("with %s is used, and does not replace the last good one", async (_name, text) => {
    await using fx = await fixture();
    await fx.write('{"gateway": {"port": 4711}}');
    await fx.load();
    await fx.write(text);
    const loaded = await fx.load();
    expect([loaded.source, loaded.config.gateway.port, loaded.warnings.length]).toEqual(["file", 18789, 1]);
    expect(await fx.read(LAST_GOOD)).toBe('{"gateway": {"port": 4711}}');
    await fx.write("{");
    expect((await fx.load()).config.gateway.port).toBe(4711);
  });

  test.each([
    ["a folder", (path: string) => mkdir(path)],
    ["not text", (path: string) => writeFile(path, new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]))],
    ["too large", (path: string) => writeFile(path, " ".repeat(1024 * 1024 + 1))],
    ["a link to nothing it may read", (path: string) => symlink("/dev/zero", path)],
  ])("may be %s", async (_name, make) => {
    await using fx = await fixture();
    await make(join(fx.home, FILE));
    expect(await refusal(fx.load())).toContain("pi-gateway.jsonc:1:1 The file cannot be read.");
  });

  test("is refused when the last good one is broken or is a link", async () => {
    await using fx = await fixture();
    await fx.write("{");
    await fx.write("{", LAST_GOOD);
    await refusal(fx.load());
    await rm(join(fx.home, LAST_GOOD));
    await writeFile(join(fx.cwd, "other.jsonc"), "{}");
    await symlink(join(fx.cwd, "other.jsonc"), join(fx.home, LAST_GOOD));
    await refusal(fx.load());
  });
});

describe("the last good file", () => {
  test("is private, holds the text as written, and leaves no other file behind", async () => {
    const umask = process.umask(0);
    try {
      await using fx = await fixture({ GATEWAY_TOKEN: TOKEN });
      const text = '{"gateway": {"auth": {"token": "${GATEWAY_TOKEN}"}}} // mine';
      await fx.write(text);
      expect((await fx.load()).config.gateway.auth.token?.reveal()).toBe(TOKEN);
      expect(await fx.read(LAST_GOOD)).toBe(text);
      expect(await fx.mode(LAST_GOOD)).toBe(0o600);
      expect(await fx.files()).toEqual([LAST_GOOD, FILE]);
      await chmod(join(fx.home, LAST_GOOD), 0o640);
      await fx.load();
      expect(await fx.mode(LAST_GOOD)).toBe(0o600);
    } finally {
      process.umask(umask);
    }
  });

  test("follows each good text, and is not written again for one that it holds already", async () => {
    await using fx = await fixture();
    for (const text of ['{"queue": {"maxTotal": 70}}', '{"queue": {"maxTotal": 80}}']) {
      await fx.write(text);
      await fx.load();
      expect(await fx.read(LAST_GOOD)).toBe(text);
    }
    const { ino } = await stat(join(fx.home, LAST_GOOD));
    await fx.load();
    expect((await stat(join(fx.home, LAST_GOOD))).ino).toBe(ino);
  });

  test("replaces a link in its place, also one to the same text", async () => {
    await using fx = await fixture();
    await writeFile(join(fx.cwd, "same"), "{}", { mode: 0o600 });
    await symlink(join(fx.cwd, "same"), join(fx.home, LAST_GOOD));
    await fx.write("{}");
    await fx.load();
    expect((await lstat(join(fx.home, LAST_GOOD))).isFile()).toBe(true);
  });

  test("stands in for a broken file whose problems and warnings are both told", async () => {
    await using fx = await fixture();
    await fx.write("{}");
    await fx.load();
    await fx.write('{"queue": {"maxTotl": 7}, "gateway": {"port": -1}}');
    const { source, problems, warnings } = await fx.load();
    expect([source, problems.map(({ path }) => path), warnings.map(({ path }) => path)]).toEqual([
      "last-good",
      ["gateway.port"],
      ["queue.maxTotl"],
    ]);
  });

  test("replaces a link in its place instead of writing through it", async () => {
    await using fx = await fixture();
    const victim = join(fx.cwd, "victim");
    await writeFile(victim, "untouched");
    await symlink(victim, join(fx.home, LAST_GOOD));
    await fx.write("{}");
    await fx.load();
    expect(await readFile(victim, "utf8")).toBe("untouched");
    expect(await fx.read(LAST_GOOD)).toBe("{}");
  });

  test("that cannot be written does not stop the start", async () => {
    await using fx = await fixture();
    await mkdir(join(fx.home, LAST_GOOD));
    await fx.write("{}");
    expect((await fx.load()).source).toBe("file");
    expect(fx.log.lines.map((line) => line.words)).toEqual(["last good configuration could not be kept"]);
    expect(await fx.files()).toEqual([LAST_GOOD, FILE]);
  });
});

describe("old keys", () => {
  const OLD = `{
  // who may come in
  "gateway": {
    "token": "${TOKEN}", // from the vault
    "port": 4000
  },
  "agent": { "turnTimeoutMs": "5m" /* long */ },
}
`;
  const NEW = `{
  // who may come in
  "gateway": {
    "auth": { "token": "${TOKEN}" }, // from the vault
    "port": 4000
  },
  "agent": { "timeoutMs": "5m" /* long */ },
}
`;

  test("are rewritten with their comments, after a private backup was made", async () => {
    const umask = process.umask(0);
    try {
      await using fx = await fixture();
      await fx.write(OLD);
      const loaded = await fx.load();
      expect(loaded.config.gateway.auth.token?.reveal()).toBe(TOKEN);
      expect(loaded.migrated).toEqual([
        { from: "gateway.token", to: "gateway.auth.token" },
        { from: "agent.turnTimeoutMs", to: "agent.timeoutMs" },
      ]);
      expect([await fx.read(), await fx.read(`${FILE}.bak-1`), await fx.read(LAST_GOOD)]).toEqual([NEW, OLD, NEW]);
      expect([await fx.mode(FILE), await fx.mode(`${FILE}.bak-1`)]).toEqual([0o600, 0o600]);
      expect(await fx.files()).toEqual([LAST_GOOD, FILE, `${FILE}.bak-1`]);
      expect((await fx.load()).migrated).toEqual([]);
    } finally {
      process.umask(umask);
    }
  });

  test("get a new backup each time; an earlier one, or a link in its place, is never touched", async () => {
    await using fx = await fixture();
    const victim = join(fx.cwd, "victim");
    await writeFile(victim, "untouched");
    await fx.write("first backup", `${FILE}.bak-1`);
    await symlink(victim, join(fx.home, `${FILE}.bak-2`));
    await fx.write(OLD);
    await fx.load();
    expect(await fx.read(`${FILE}.bak-1`)).toBe("first backup");
    expect(await readFile(victim, "utf8")).toBe("untouched");
    expect(await fx.read(`${FILE}.bak-3`)).toBe(OLD);
  });

  test("in a read-only file work, with a warning, and the file stays as it is", async () => {
    await using fx = await fixture();
    await fx.write(OLD);
    await chmod(join(fx.home, FILE), 0o400);
    const loaded = await fx.load();
    expect(loaded.config.agent.timeoutMs).toBe(300_000);
    expect(loaded.warnings.map((warning) => warning.message)).toEqual([
      "pi-gateway.jsonc uses old names (gateway.token is now gateway.auth.token, agent.turnTimeoutMs is now agent.timeoutMs). They still work, but the file was not rewritten: it is read-only.",
    ]);
    expect(await fx.read()).toBe(OLD);
    expect(await fx.files()).toEqual([LAST_GOOD, FILE]);
  });

  test("in a linked file are rewritten where the file really is", async () => {
    await using fx = await fixture();
    const real = join(fx.cwd, "dotfiles.jsonc");
    await writeFile(real, OLD);
    await symlink(real, join(fx.home, FILE));
    await fx.load();
    expect(await readFile(real, "utf8")).toBe(NEW);
    expect(await readFile(`${real}.bak-1`, "utf8")).toBe(OLD);
  });

  test("in a broken file are left alone", async () => {
    await using fx = await fixture();
    const text = `{"gateway": {"token": "${TOKEN}", "port": "x"}}`;
    await fx.write(text);
    await refusal(fx.load());
    expect(await fx.files()).toEqual([FILE]);
    expect(await fx.read()).toBe(text);
  });
});

test("loading says nothing when all is well", async () => {
  await using fx = await fixture();
  await fx.write("{}");
  await loadConfig(
    { log: silentLog },
    { home: fx.home, flag: undefined, cwd: fx.cwd, environment: readEnvironment({}) },
  );
  await fx.load();
  expect(fx.log.lines).toEqual([]);
});

test("the example file is right, and everything it sets is a default", async () => {
  const text = await readFile(EXAMPLE, "utf8");
  const { config, problems, warnings } = checkConfigText(text, () => undefined);
  const { config: defaults } = checkConfigText("{}", () => undefined);
  if (!config || !defaults) throw new Error(JSON.stringify(problems));
  expect(warnings).toEqual([]);
  expect(diffConfig(defaults, config).changed).toEqual(["$schema"]);
});

test("the example file is still right when its commented lines are used", async () => {
  const text = await readFile(EXAMPLE, "utf8");
  const used = text.replace(/^( +)\/\/ (?=["}])|^( +)\/\/   (?=")/gm, "$1$2");
  const set = {
    GATEWAY_TOKEN: TOKEN,
    GATEWAY_PASSWORD: "twelve chars",
    OPENAI_API_KEY: "key",
    BACKUP_PASSPHRASE: "secret",
    S3_ACCESS_KEY_ID: "id",
    S3_SECRET_ACCESS_KEY: "key",
  };
  const variables = (name: string) => new Map(Object.entries(set)).get(name);
  const { config, problems, warnings } = checkConfigText(used, variables);
  expect([...problems, ...warnings]).toEqual([]);
  expect(config?.models.providers.local?.models[0]?.id).toBe("qwen3:4b");
  expect(config?.agent.agentDir).toBe("/home/me/.pi/agent");
});

test("a named pipe in the place of the file is refused at once, and the start does not wait for a writer", async () => {
  await using fx = await tempHome();
  const path = join(fx.path, "pi-gateway.jsonc");
  expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
  expect(await waitForEnd("an answer about the pipe", readConfigText(path, "follow"))).toEqual({
    kind: "unreadable",
    because: "It is not a file.",
  });
});

test("a file with old keys is rewritten, and the log says which file, which keys and where the old text is", async () => {
  await using fx = await fixture();
  await fx.write('{ "queue": { "maxPending": 7 } }');
  const { migrated, warnings } = await fx.load();
  const path = join(fx.home, FILE);
  expect([migrated, warnings]).toEqual([[{ from: "queue.maxPending", to: "queue.maxTotal" }], []]);
  expect(await fx.read()).toBe('{ "queue": { "maxTotal": 7 } }');
  expect(fx.log.lines).toEqual([
    {
      level: "info",
      words: "configuration migrated",
      fields: { path, backup: `${path}.bak-1`, keys: ["queue.maxTotal"] },
    },
  ]);
});
