/** Reloads that meet each other, a stop, new skills or a file that is gone: the newest file wins, and nothing is applied halfway. */
import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentPool } from "./contracts/agent.ts";
import { deferred } from "./kit/deferred.ts";
import { createReloader, type ReloadTargets } from "./reload.ts";
import { tempHome } from "./testing/temp-home.ts";
import { loaded, noting, PATH, reloadTo, reloadWorld as world, runs } from "./testing/reload-world.ts";
import { waitFor, waitForEnd } from "./testing/wait-for.ts";

describe("two quick saves", () => {
  test("are read one after the other, so that the newer one wins", async () => {
    const { reloader, reads, settle } = world();
    const older = reloader.reload();
    const newer = reloader.reload();
    await settle();
    expect(reads.length).toBe(1);
    reads[0]?.resolve(loaded(runs(2)));
    await older;
    await waitFor("the second read", () => reads.length === 2);
    reads[1]?.resolve(loaded(runs(3)));
    expect((await newer).changed).toEqual(["cron.maxRunsAtOnce"]);
    expect(reloader.config().cron.maxRunsAtOnce).toBe(3);
  });

  test("of which the first cannot be read end with the second", async () => {
    const { reloader, reads } = world();
    const reports = [reloader.reload(), reloader.reload()];
    await waitFor("the first read", () => reads.length === 1);
    reads[0]?.reject(new Error("the disk is away"));
    await waitFor("the second read", () => reads.length === 2);
    reads[1]?.resolve(loaded(runs(3)));
    expect((await Promise.all(reports)).map(({ problems }) => problems.length)).toEqual([1, 0]);
    expect(reloader.config().cron.maxRunsAtOnce).toBe(3);
    expect(reloader.notices()).toEqual([]);
  });
});

test("a reload is over when the running parts have taken it over, and not before", async () => {
  const { reloader, reads, applied, targets, settle } = world();
  await using _watching = reloader.start(targets);
  let over = false;
  const report = reloader.reload().then(() => (over = true));
  await waitFor("the read", () => reads.length === 1);
  reads[0]?.resolve(loaded(runs(2)));
  await waitFor("the parts are told", () => applied.length === 1);
  await settle();
  expect([over, reloader.config().cron.maxRunsAtOnce]).toEqual([false, 1]);
  applied[0]?.resolve();
  await waitForEnd("the report", report);
  expect(reloader.config().cron.maxRunsAtOnce).toBe(2);
});

test("parts that cannot take a configuration over leave the one before in effect, and the owner is told", async () => {
  const { reloader, reads, applied, targets } = world();
  await using _watching = reloader.start(targets);
  const report = reloader.reload();
  await waitFor("the read", () => reads.length === 1);
  reads[0]?.resolve(loaded(runs(2)));
  await waitFor("the parts are told", () => applied.length === 1);
  applied[0]?.reject(new Error("no"));
  expect((await waitForEnd("the report", report)).problems.length).toBe(1);
  expect([reloader.config().cron.maxRunsAtOnce, reloader.notices().length]).toEqual([1, 1]);
});

test("a stop waits for the reload that is under way", async () => {
  const { reloader, reads, targets, settle } = world();
  const watching = reloader.start(targets);
  const report = reloader.reload();
  await waitFor("the read", () => reads.length === 1);
  let stopped = false;
  const stop = Promise.resolve(watching[Symbol.asyncDispose]()).then(() => (stopped = true));
  await settle();
  expect(stopped).toBe(false);
  reads[0]?.resolve(loaded(runs(1)));
  await waitForEnd("the report", report);
  await waitForEnd("the stop", stop);
});

test("new skills replace the agents after the reload that is under way, with the configuration it brought", async () => {
  const { reloader, reads, applied, pools, skills, targets, clock } = world();
  await using _watching = reloader.start(targets);
  const report = reloader.reload();
  await waitFor("the read", () => reads.length === 1);
  skills.changed = true;
  skills.tell();
  await clock.advance(100);
  expect(pools).toEqual([]);
  reads[0]?.resolve(loaded(runs(2)));
  await waitFor("the parts are told", () => applied.length === 1);
  applied[0]?.resolve();
  await waitForEnd("the report", report);
  await waitFor("the new agents", () => pools.length === 1);
  expect(pools.map(({ cron }) => cron.maxRunsAtOnce)).toEqual([2]);
});

test.each([
  ["is gone", loaded({}, { path: null, source: "defaults" }), "is gone"],
  ["is broken", loaded(runs(9), { source: "last-good" }), "broken"],
  ["would let anybody in", loaded({ ...runs(9), gateway: { insecure: true } }), "weaken"],
  [
    "gives a workspace that is in use to each person",
    loaded({ ...runs(9), agent: { workspace: { scope: "person" } } }),
    "Restart the gateway to put it into effect: files are moved then.",
  ],
])("a file that %s changes nothing, and the owner is told", async (_what, next, words) => {
  const { reloader, reads } = world();
  const report = reloader.reload();
  await waitFor("the read", () => reads.length === 1);
  reads[0]?.resolve(next);
  expect((await waitForEnd("the report", report)).changed).toEqual([]);
  expect(reloader.config().cron.maxRunsAtOnce).toBe(1);
  expect(reloader.notices().join(" ")).toContain(words);
});

test("each workspace that would get another scope is named to the owner", async () => {
  const workspace = (folder: string, scope: string) => ({ path: `/srv/${folder}`, scope });
  const agents = (scope: string) => ["one", "two"].map((id) => ({ id, workspace: workspace(id, scope) }));
  const here = world(loaded({ agents: agents("agent") }));
  const { problems } = await reloadTo(here, loaded({ agents: agents("person") }));
  expect(problems.map((words) => /\(([^)]*)\)/.exec(words)?.[1])).toEqual(["/srv/one", "/srv/two"]);
});

test("a reload is on the audit log with the names of what changed, and one that is rejected as such; no value is", async () => {
  const { reloader, reads, applied, targets, audited } = world();
  await using _watching = reloader.start(targets);
  const accepted = reloader.reload();
  await waitFor("the read", () => reads.length === 1);
  reads[0]?.resolve(loaded(runs(7)));
  await waitFor("the parts are told", () => applied.length === 1);
  applied[0]?.resolve();
  await accepted;
  const rejected = reloader.reload();
  await waitFor("the second read", () => reads.length === 2);
  const problem = { path: "roles", line: 1, column: 1, message: "roles is a secret value." };
  reads[1]?.resolve(loaded(runs(8), { source: "last-good", problems: [problem] }));
  await rejected;
  expect(audited.map(({ kind, actor, detail }) => [kind, actor, detail["changed"]])).toEqual([
    ["config.reloaded", "gateway", ["cron.maxRunsAtOnce"]],
    ["config.rejected", "gateway", []],
  ]);
  expect(JSON.stringify(audited)).not.toContain("a secret value");
});

test("plugins are refreshed when the new settings are the ones in force", async () => {
  const here = world();
  const seen: (readonly string[])[] = [];
  const refresh = async (): Promise<void> => void seen.push(here.reloader.config().plugins.disabled);
  await using _watching = here.reloader.start({ ...here.targets, plugins: { refresh } });
  await reloadTo(here, loaded({ ...runs(1), plugins: { disabled: ["weather"] } }));
  expect(seen).toEqual([["weather"]]);
});

test("the notice that a setting needs a restart stays through later reloads, until the setting is as it was at the start", async () => {
  const here = world();
  const notice = "gateway.port was changed; it takes effect at the next start.";
  for (const [next, notices] of [
    [{ ...runs(1), gateway: { port: 7777 } }, [notice]],
    [{ ...runs(2), gateway: { port: 7777 } }, [notice]],
    [runs(2), []],
  ] as const) {
    await reloadTo(here, loaded(next));
    expect(here.reloader.notices()).toEqual(notices);
  }
});

test("a stop ends the wait for new skills, so that no agents are replaced after it", async () => {
  const { reloader, pools, skills, targets, clock } = world();
  const watching = reloader.start(targets);
  skills.changed = true;
  skills.tell();
  await watching[Symbol.asyncDispose]();
  await clock.advance(1_000);
  expect(pools).toEqual([]);
});

test("a reload that the audit log does not take is in force and reported as such", async () => {
  const here = world();
  const audit = { note: () => Promise.reject(new Error("disk full")) };
  await using _watching = here.reloader.start({ ...here.targets, audit });
  const { changed, problems } = await reloadTo(here, loaded(runs(2)));
  expect([changed, problems, here.reloader.status().applied]).toEqual([["cron.maxRunsAtOnce"], [], true]);
});

const AGENTS = ["new agents", "agents replaced"];
const HOOKS = { enabled: true, token: "a-hook-token-nobody-guesses-0815" };

describe("a reload tells the parts that a setting belongs to, and no others:", () => {
  test.each<[string, object, readonly string[]]>([
    ["agent", { agent: { timeoutMs: 5_000 } }, [...AGENTS, "files", "settings changed", "plugins"]],
    ["agents", { agents: [{ id: "cook" }] }, [...AGENTS, "files", "settings changed", "plugins"]],
    [
      "roles.profiles",
      { roles: { profiles: { member: { tools: "workspace" } } } },
      [...AGENTS, "files", "settings changed", "plugins"],
    ],
    [
      "models",
      { models: { providers: { mine: { baseUrl: "http://127.0.0.1:1/v1", models: [{ id: "small" }] } } } },
      [...AGENTS, "settings changed"],
    ],
    ["cron.enabled", { cron: { enabled: false } }, [...AGENTS, "automation", "settings changed"]],
    ["cron", { cron: { maxRunsAtOnce: 9 } }, ["automation", "settings changed"]],
    ["heartbeat.enabled", { heartbeat: { enabled: true } }, [...AGENTS, "automation", "settings changed"]],
    ["heartbeat", { heartbeat: { every: "17m" } }, ["automation", "settings changed"]],
    ["gateway", { gateway: { allowedHosts: ["chat.example"] } }, ["http", "settings changed"]],
    ["hooks", { hooks: HOOKS }, ["http", "settings changed"]],
    ["channels", { channels: { telegram: { enabled: false, botToken: "1:x" } } }, ["platforms", "settings changed"]],
    ["plugins.disabled", { plugins: { disabled: ["weather"] } }, ["platforms", "settings changed", "plugins"]],
    ["plugins", { plugins: { config: { weather: { city: "Graz" } } } }, ["settings changed", "plugins"]],
    ["media", { media: { maxMb: 3 } }, ["files", "settings changed"]],
    ["mcp", { mcp: { servers: { shop: { command: "x" } } } }, ["MCP servers: shop", "settings changed"]],
    ["logging", { logging: { level: "debug" } }, ["logging", "settings changed"]],
    ["tools.webFetch.enabled", { tools: { webFetch: { enabled: false } } }, ["settings changed", "plugins"]],
    [
      "tools.webSearch.provider",
      { tools: { webSearch: { provider: "searxng", baseUrl: "http://127.0.0.1:1" } } },
      ["settings changed", "plugins"],
    ],
    ["queue", { queue: { maxTotal: 7 } }, ["settings changed"]],
    ["nothing", {}, []],
  ])("%s", async (_name, settings, parts) => {
    const here = world(loaded({}));
    const told: string[] = [];
    await using _watching = here.reloader.start(noting(here, told));
    expect((await reloadTo(here, loaded(settings))).problems).toEqual([]);
    expect(told).toEqual([...parts]);
  });
});

test("agents that cannot be started leave those of before at work and the configuration of before in effect", async () => {
  const here = world(loaded({}));
  const told: string[] = [];
  const openPool = () => Promise.reject(new Error("no such pi"));
  await using _watching = here.reloader.start({ ...noting(here, told), openPool });
  const { changed, problems } = await reloadTo(here, loaded({ agent: { timeoutMs: 5_000 } }));
  expect([changed, problems.length, told]).toEqual([[], 1, []]);
  expect(here.reloader.config().agent.timeoutMs).not.toBe(5_000);
  expect(here.reloader.status()).toMatchObject({ file: PATH, applied: false });
});

test("a reload does not wait for platforms, which take their time in the background", async () => {
  const here = world(loaded({}));
  const platforms = { apply: () => new Promise<void>(() => undefined) };
  await using _watching = here.reloader.start({ ...noting(here, []), platforms });
  const settings = { channels: { telegram: { enabled: false, botToken: "1:x" } } };
  expect((await reloadTo(here, loaded(settings))).problems).toEqual([]);
});

test("every reload is announced as a change of the status: one in force, one that is rejected and one that failed", async () => {
  const here = world(loaded({}));
  const seen: (readonly [boolean, readonly string[]])[] = [];
  here.targets.events.on("status", () => {
    const { applied, problems } = here.reloader.status();
    seen.push([applied, problems]);
  });
  await using _watching = here.reloader.start(noting(here, []));
  await reloadTo(here, loaded({ queue: { maxTotal: 7 } }));
  await reloadTo(here, loaded({}, { source: "last-good" }));
  const failing = here.reloader.reload();
  await waitFor("the read", () => here.reads.length === 3);
  here.reads[2]?.reject(Object.assign(new Error("EIO"), { say: "The disk is away." }));
  await failing;
  expect(seen).toEqual([
    [true, []],
    [false, [expect.stringContaining("broken")]],
    [false, ["The disk is away."]],
  ]);
});

test("a gateway that started with the last good configuration says so until a good one is read", async () => {
  const problem = { path: "queue", line: 3, column: 5, message: "queue is wrong." };
  const here = world(loaded({}, { source: "last-good", problems: [problem] }));
  expect(here.reloader.status().applied).toBe(false);
  expect(here.reloader.notices().join(" ")).toContain("queue is wrong.");
  await reloadTo(here, loaded({}));
  expect([here.reloader.status(), here.reloader.notices()]).toEqual([{ file: PATH, applied: true, problems: [] }, []]);
});

test("a configuration with warnings is in force, and its warnings are told", () => {
  const warning = { path: "queue", line: 3, column: 5, message: "queue.mox is not known." };
  const { reloader } = world(loaded({}, { warnings: [warning] }));
  expect(reloader.status()).toEqual({ file: PATH, applied: true, problems: [] });
  expect(reloader.notices()).toEqual([expect.stringContaining("queue.mox is not known.")]);
});

test("warnings about a file that is taken over are told, beside what needs a restart", async () => {
  const here = world(loaded({}));
  const warning = { path: "queue", line: 3, column: 5, message: "queue.mox is not known." };
  await reloadTo(here, loaded({ gateway: { port: 7777 } }, { warnings: [warning] }));
  expect(here.reloader.notices()).toEqual([
    expect.stringContaining("queue.mox is not known."),
    "gateway.port was changed; it takes effect at the next start.",
  ]);
  expect(here.reloader.status().applied).toBe(true);
});

test("a gateway that never had a file goes on without one, and nobody is told that one is gone", async () => {
  const none = loaded({}, { path: null, source: "defaults" });
  const here = world(none);
  expect((await reloadTo(here, none)).problems).toEqual([]);
  expect([here.reloader.notices(), here.reloader.status()]).toEqual([[], { file: null, applied: true, problems: [] }]);
});

test("a reload that changes nothing is neither on the audit log nor in the log, and no part is told", async () => {
  const here = world(loaded({}));
  const told: string[] = [];
  await using _watching = here.reloader.start(noting(here, told));
  expect(await reloadTo(here, loaded({}))).toEqual({ changed: [], needsRestart: [], problems: [] });
  expect([here.audited, here.log.lines, told]).toEqual([[], [], []]);
});

test.each([
  ["the files of agents have followed", { media: { maxMb: 7 } }, "files"],
  ["the audit log holds it", { queue: { maxTotal: 7 } }, "audit"],
  ["plugins are refreshed", { plugins: { disabled: ["weather"] } }, "plugins"],
  ["the agents are there", { agent: { timeoutMs: 5_000 } }, "pool"],
] as const)("a reload is over when %s, and not before", async (_what, settings, part) => {
  const here = world(loaded({}));
  const step = deferred<void>();
  const asked: string[] = [];
  const wait = (name: string) => (asked.push(name), name === part ? step.promise : Promise.resolve());
  await using _watching = here.reloader.start({
    ...here.targets,
    files: { reload: () => wait("files") },
    audit: { note: () => wait("audit") },
    plugins: { refresh: () => wait("plugins") },
    openPool: async () => (await wait("pool"), {} as AgentPool),
  });
  let over = false;
  const report = here.reloader.reload().then(() => (over = true));
  await waitFor("the read", () => here.reads.length === 1);
  here.reads[0]?.resolve(loaded(settings));
  await waitFor("the part is told", () => asked.includes(part));
  await here.settle();
  expect(over).toBe(false);
  step.resolve();
  await waitForEnd("the report", report);
});

test("a configuration that would weaken sign-in is reported with all that it changes", async () => {
  const here = world();
  const report = await reloadTo(here, loaded({ ...runs(9), gateway: { insecure: true } }));
  expect(report).toMatchObject({ changed: [], needsRestart: ["gateway.insecure", "cron.maxRunsAtOnce"] });
  expect(here.log.lines.map(({ words }) => words)).toEqual(["configuration not applied; the running one stays"]);
});

test("a file that cannot be read is in the log, and the owner gets a sentence", async () => {
  const { reloader, reads, log } = world();
  const report = reloader.reload();
  await waitFor("the read", () => reads.length === 1);
  reads[0]?.reject(new Error("the disk is away"));
  expect((await waitForEnd("the report", report)).problems).toEqual(["The configuration could not be read."]);
  expect(log.lines.map(({ words }) => words)).toEqual(["configuration could not be reloaded"]);
  const again = reloader.reload();
  await waitFor("the second read", () => reads.length === 2);
  reads[1]?.reject("no error at all");
  expect((await again).problems).toEqual(["The configuration could not be read."]);
});

test("problems of a file are told with its path, line and column", async () => {
  const here = world();
  const problem = { path: "roles", line: 3, column: 5, message: "roles is wrong." };
  await reloadTo(here, loaded(runs(8), { source: "last-good", problems: [problem] }));
  expect(here.reloader.notices()).toContain(`${PATH}:3:5 roles is wrong.`);
  const fresh = world(loaded({}, { path: null, source: "defaults", warnings: [problem] }));
  expect(fresh.reloader.notices()).toEqual(["the configuration:3:5 roles is wrong."]);
});

test("the file that is in force is the one that is watched, wherever another is expected", async () => {
  const folder = await mkdtemp(join(tmpdir(), "pi-gateway-reload-"));
  try {
    const file = join(folder, "elsewhere.jsonc");
    await Bun.write(file, "{}");
    const here = world(loaded(runs(1), { path: file }));
    await using _watching = here.reloader.start(here.targets);
    await Bun.write(file, '{ "cron": {} }');
    await here.clock.advance(500);
    await here.clock.advance(200);
    await waitFor("the read", () => here.reads.length === 1);
    here.reads[0]?.resolve(loaded(runs(1), { path: file }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a gateway without a file sees the one that is written where one is expected", async () => {
  await using home = await tempHome();
  const expectedPath = join(home.path, "pi-gateway.jsonc");
  const none = loaded({}, { path: null, source: "defaults" });
  const { clock, log, targets } = world();
  let reads = 0;
  const reloader = createReloader({ clock, log }, none, { expectedPath, load: async () => (reads++, none) });
  await using _watching = reloader.start(targets);
  await Bun.write(expectedPath, "{}");
  await clock.advance(500);
  await clock.advance(200);
  expect(reads).toBe(1);
});

describe("new skills", () => {
  test("that were there before the gateway followed them reach the agents", async () => {
    const here = world();
    const told: string[] = [];
    here.skills.changed = true;
    await using _watching = here.reloader.start(noting(here, told));
    await here.clock.advance(100);
    expect(told).toEqual(AGENTS);
  });

  test("of a plugin that is loaded anew replace the agents once, 100 ms after the last change", async () => {
    const here = world();
    const told: string[] = [];
    await using _watching = here.reloader.start(noting(here, told));
    here.skills.changed = true;
    for (let change = 0; change < 3; change++) {
      here.skills.tell();
      await here.clock.advance(99);
    }
    expect(told).toEqual([]);
    await here.clock.advance(1);
    expect(told).toEqual(AGENTS);
  });

  test("that are taken away again before replace no agents", async () => {
    const here = world();
    const told: string[] = [];
    await using _watching = here.reloader.start(noting(here, told));
    here.skills.changed = true;
    here.skills.tell();
    here.skills.changed = false;
    await here.clock.advance(1_000);
    expect(told).toEqual([]);
  });

  test("that the agents cannot be started with hold up neither later skills nor a reload", async () => {
    const here = world(loaded({}));
    const told: string[] = [];
    const broken = { now: true };
    const parts = noting(here, told);
    const openPool: ReloadTargets["openPool"] = (config) =>
      broken.now ? Promise.reject(new Error("no such pi")) : parts.openPool(config);
    await using _watching = here.reloader.start({ ...parts, openPool });
    here.skills.changed = true;
    here.skills.tell();
    await here.clock.advance(100);
    expect(here.log.lines.map(({ words }) => words)).toEqual(["skills of plugins not given to agents"]);
    broken.now = false;
    expect((await reloadTo(here, loaded({ queue: { maxTotal: 7 } }))).changed).toEqual(["queue.maxTotal"]);
    here.skills.tell();
    await here.clock.advance(100);
    expect(told).toEqual(["settings changed", ...AGENTS]);
  });

  test("that agents are being started with are waited for by a reload and by a stop", async () => {
    const { reloader, reads, skills, targets, clock, settle } = world();
    const started = deferred<AgentPool>();
    const watching = reloader.start({ ...targets, openPool: () => started.promise });
    skills.changed = true;
    skills.tell();
    await clock.advance(100);
    const report = reloader.reload();
    let stopped = false;
    const stop = Promise.resolve(watching[Symbol.asyncDispose]()).then(() => (stopped = true));
    await settle();
    expect([reads.length, stopped]).toEqual([0, false]); // the newer configuration comes after the agents of the older one
    started.resolve({} as AgentPool);
    await waitFor("the read", () => reads.length === 1);
    reads[0]?.resolve(loaded(runs(1)));
    await waitForEnd("the report", report);
    await waitForEnd("the stop", stop);
  });

  test("and changes of the file are followed by nobody after a stop: no listener, no timer and no read is left", async () => {
    const here = world();
    const watching = here.reloader.start(here.targets);
    here.skills.changed = true;
    here.skills.tell();
    await watching[Symbol.asyncDispose]();
    here.skills.tell();
    await here.clock.advance(10_000);
    expect([here.skills.listeners.size, here.clock.pending(), here.reads.length]).toEqual([0, 0, 0]);
  });
});

test("a reload is reported when it is on the audit log, whether it is in force or rejected", async () => {
  const made = world();
  const { targets, reloader, settle } = made;
  let noted = deferred<void>();
  targets.audit.note = () => noted.promise;
  await using _watching = reloader.start(targets);
  const broken = { path: "roles", line: 1, column: 1, message: "roles is wrong." };
  for (const next of [loaded(runs(7)), loaded(runs(8), { source: "last-good", problems: [broken] })]) {
    noted = deferred<void>();
    let over = false;
    const report = reloadTo(made, next).then(() => (over = true));
    await settle();
    await settle();
    expect(over).toBe(false);
    noted.resolve();
    await waitForEnd("the report", report);
  }
});
