/** A reloader whose file and parts are the test's own: every read and every step of applying waits until the test lets it go on. */
import { type Config, checkConfigText, type LoadedConfig } from "../config/index.ts";
import type { AgentPool } from "../contracts/agent.ts";
import type { NewAuditEntry } from "../contracts/store/tool-calls.ts";
import { type Deferred, deferred } from "../kit/deferred.ts";
import { createEvents } from "../observe/index.ts";
import { createReloader, type Reloader, type ReloadTargets } from "../reload.ts";
import { createFakeClock } from "./fake-clock.ts";
import { recordingLog } from "./recording-log.ts";
import { waitFor, waitForEnd } from "./wait-for.ts";

const STOP_MS = 5_000;
export const PATH = "/etc/pi-gateway.jsonc";

export function loaded(settings: object, more: Partial<LoadedConfig> = {}): LoadedConfig {
  const { config, problems } = checkConfigText(JSON.stringify(settings), () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  return { config, path: PATH, source: "file", problems: [], warnings: [], migrated: [], ...more };
}

export const runs = (maxRunsAtOnce: number) => ({ cron: { maxRunsAtOnce } });

/** Every read of the file, and every step of applying it, waits until the test lets it go on. */
export function reloadWorld(first = loaded(runs(1))) {
  const clock = createFakeClock();
  const log = recordingLog();
  const reads: Deferred<LoadedConfig>[] = [];
  const applied: Deferred<void>[] = [];
  const pools: Config[] = [];
  const audited: NewAuditEntry[] = [];
  const skills = {
    changed: false,
    listeners: new Set<() => void>(),
    tell: () => skills.listeners.forEach((one) => one()),
  };
  const targets: ReloadTargets = {
    events: createEvents({ log }),
    port: {
      reload() {
        throw new Error("no test of these changes how people sign in");
      },
    },
    pool: { replace: () => undefined },
    mcpServers: { apply: () => undefined },
    skills: {
      hasChanged: () => skills.changed,
      onChange(listener) {
        skills.listeners.add(listener);
        return { [Symbol.dispose]: () => void skills.listeners.delete(listener) };
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
    files: { reload: async () => undefined },
    setLogging: () => undefined,
  };
  const made = createReloader({ clock, log }, first, {
    expectedPath: PATH,
    load() {
      const read = deferred<LoadedConfig>();
      reads.push(read);
      return read.promise;
    },
  });
  const reloader: Reloader = { ...made, start: (parts) => endingInTime(made.start(parts)) };
  const settle = () => clock.advance(0);
  return { clock, log, reads, applied, pools, skills, targets, reloader, settle, audited };
}

/** A stop waits for reloads that are under way: one that waits in vain says so, and does not hide what the test found before it. */
function endingInTime(watching: AsyncDisposable): AsyncDisposable {
  const stop = async (): Promise<void> => watching[Symbol.asyncDispose]();
  return { [Symbol.asyncDispose]: () => waitForEnd("the stop of the reloader", stop(), { withinMs: STOP_MS }) };
}

/** Reads the file and lets every step of applying it go on at once. */
export async function reloadTo({ reloader, reads, applied }: ReturnType<typeof reloadWorld>, next: LoadedConfig) {
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

/** The same parts, which note what they are told and take it at once. */
export function noting(here: ReturnType<typeof reloadWorld>, told: string[]): ReloadTargets {
  return {
    ...here.targets,
    port: { reload: () => void told.push("http") },
    async openPool(config) {
      told.push("new agents");
      return here.targets.openPool(config);
    },
    pool: { replace: () => void told.push("agents replaced") },
    mcpServers: { apply: ({ servers }) => void told.push(`MCP servers: ${Object.keys(servers).join(" ")}`) },
    plugins: { refresh: async () => void told.push("plugins") },
    automation: {
      reload: async () => void told.push("automation"),
      settingsChanged: () => void told.push("settings changed"),
    },
    files: { reload: async () => void told.push("files") },
    platforms: { apply: async () => void told.push("platforms") },
    setLogging: () => void told.push("logging"),
  };
}
