/** Reloads that meet each other, a stop, new skills or a file that is gone: the newest file wins, and nothing is applied halfway. */
import { describe, expect, test } from "bun:test";
import { type Config, checkConfigText, type LoadedConfig } from "./config/index.ts";
import type { AgentPool } from "./contracts/agent.ts";
import type { NewAuditEntry } from "./contracts/store/tool-calls.ts";
import { type Deferred, deferred } from "./kit/deferred.ts";
import { createEvents } from "./observe/index.ts";
import { createReloader, type ReloadTargets } from "./reload.ts";
import { createFakeClock } from "./testing/fake-clock.ts";
import { recordingLog } from "./testing/recording-log.ts";
import { waitFor } from "./testing/wait-for.ts";

const PATH = "/etc/pi-gateway.jsonc";

function loaded(settings: object, more: Partial<LoadedConfig> = {}): LoadedConfig {
  const { config, problems } = checkConfigText(JSON.stringify(settings), () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  return { config, path: PATH, source: "file", problems: [], warnings: [], migrated: [], ...more };
}

const runs = (maxRunsAtOnce: number) => ({ cron: { maxRunsAtOnce } });

/** Every read of the file, and every step of applying it, waits until the test lets it go on. */
function world(first = loaded(runs(1))) {
  const clock = createFakeClock();
  const log = recordingLog();
  const reads: Deferred<LoadedConfig>[] = [];
  const applied: Deferred<void>[] = [];
  const pools: Config[] = [];
  const audited: NewAuditEntry[] = [];
  const skills = { changed: false, tell: (): void => undefined };
  const targets: ReloadTargets = {
    events: createEvents({ log }),
    http: { update: () => undefined } as unknown as ReloadTargets["http"],
    pool: { replace: () => undefined },
    skills: {
      hasChanged: () => skills.changed,
      onChange(listener) {
        skills.tell = listener;
        return { [Symbol.dispose]: () => undefined };
      },
    },
    plugins: { refresh: async () => undefined },
    audit: { note: async (entry) => void audited.push(entry) },
    automation: {
      settingsChanged: () => undefined,
      reload() {
        const step = deferred<void>();
        applied.push(step);
        return step.promise;
      },
    },
    async openPool(config) {
      pools.push(config);
      return {} as AgentPool;
    },
    platforms: { apply: async () => undefined },
    token: () => {
      throw new Error("no test of these changes how people sign in");
    },
    files: { reload: async () => undefined },
    setLogging: () => undefined,
  };
  const reloader = createReloader({ clock, log }, first, {
    expectedPath: PATH,
    load() {
      const read = deferred<LoadedConfig>();
      reads.push(read);
      return read.promise;
    },
  });
  const settle = () => clock.advance(0);
  return { clock, log, reads, applied, pools, skills, targets, reloader, settle, audited };
}

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
  await report;
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
  expect((await report).problems.length).toBe(1);
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
  await report;
  await stop;
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
  await report;
  await waitFor("the new agents", () => pools.length === 1);
  expect(pools.map(({ cron }) => cron.maxRunsAtOnce)).toEqual([2]);
});

test.each([
  ["is gone", loaded({}, { path: null, source: "defaults" }), "is gone"],
  ["is broken", loaded(runs(9), { source: "last-good" }), "broken"],
  ["would let anybody in", loaded({ ...runs(9), gateway: { insecure: true } }), "weaken"],
])("a file that %s changes nothing, and the owner is told", async (_what, next, words) => {
  const { reloader, reads } = world();
  const report = reloader.reload();
  await waitFor("the read", () => reads.length === 1);
  reads[0]?.resolve(next);
  expect((await report).changed).toEqual([]);
  expect(reloader.config().cron.maxRunsAtOnce).toBe(1);
  expect(reloader.notices().join(" ")).toContain(words);
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

/** Reads the file and lets every step of applying it go on at once. */
async function reloadTo({ reloader, reads, applied }: ReturnType<typeof world>, next: LoadedConfig) {
  const [readBefore, appliedBefore] = [reads.length, applied.length];
  const report = reloader.reload();
  await waitFor("the read", () => reads.length > readBefore);
  reads.at(-1)?.resolve(next);
  let over = false;
  void report.then(() => (over = true));
  await waitFor("the parts are told", () => over || applied.length > appliedBefore);
  applied.slice(appliedBefore).forEach((step) => step.resolve());
  return report;
}

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
