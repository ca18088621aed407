/**
 * Hot reload: read → check → compare → build new → swap → stop old. A broken file, or one that would weaken sign-in or change whose a
 * workspace is, changes nothing and is reported; what needs a restart says so.
 */
import { scopeChanges } from "./agents/index.ts";
import type { AgentPool } from "./contracts/agent.ts";
import type { Events } from "./contracts/events.ts";
import type { AuditTrail } from "./contracts/store/tool-calls.ts";
import type { ConfigStatus } from "./contracts/wire.ts";
import type { SkillRegistry } from "./contracts/plugin.ts";
import { type Config, diffConfig, formatProblem, type LoadedConfig, watchConfig } from "./config/index.ts";
import type { ReloadReport } from "./contracts/http-api.ts";
import type { Clock } from "./kit/clock.ts";
import type { Log } from "./kit/log.ts";

export interface ReloadTargets {
  readonly events: Events;
  /** Settings for sign-in and host names. */
  readonly port: { reload(config: Config): void };
  readonly pool: { replace(next: AgentPool): void };
  /** Servers whose settings are new or gone are started and stopped in the background. */
  readonly mcpServers: { apply(settings: Config["mcp"]): void };
  readonly skills: Pick<SkillRegistry, "hasChanged" | "onChange">;
  readonly plugins: { refresh(): Promise<void> };
  readonly audit: Pick<AuditTrail, "note">;
  readonly automation: {
    reload(config: Config): Promise<void>;
    /** The new configuration is in effect from now on. */
    settingsChanged(): void;
  };
  /** Files that agents may send, and to whom. */
  readonly files: { reload(config: Config): Promise<void> };
  openPool(config: Config): Promise<AgentPool>;
  /** Opens and closes what changed; takes its time in the background. */
  readonly platforms: { apply(config: Config): Promise<void> };
  setLogging(settings: Config["logging"]): void;
}

export interface ConfigSource {
  /** Where the file would be, should somebody write one while the gateway runs. */
  readonly expectedPath: string;
  load(): Promise<LoadedConfig>;
}

export interface Reloader {
  readonly config: () => Config;
  /** Which file is in force, and why the file as it is now is not. */
  status(): ConfigStatus;
  /** Plain sentences about the configuration that the owner should see. */
  notices(): readonly string[];
  reload(): Promise<ReloadReport>;
  /** From now on the file is watched and changes reach the running parts. */
  start(targets: ReloadTargets): AsyncDisposable;
}

/** A plugin that is loaded anew takes its skills away and brings them back: agents are not replaced twice for that. */
const SKILLS_SETTLE_MS = 100;
const WEAKER = "The new configuration would weaken how people sign in. Restart the gateway to put it into effect.";

interface ReloadWorld {
  readonly clock: Clock;
  readonly log: Log;
  readonly source: ConfigSource;
  /** The configuration of the start: what needs a restart is compared with it. */
  readonly first: LoadedConfig;
  current: LoadedConfig;
  notices: readonly string[];
  problems: readonly string[];
  /** Null before `start`. */
  targets: ReloadTargets | null;
  /** Reloads and changes of agents, one at a time and in order. Never rejects. */
  queue: Promise<unknown>;
}

export function createReloader(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  first: LoadedConfig,
  source: ConfigSource,
): Reloader {
  const notices = noticesOf(first);
  const problems = first.source === "last-good" ? notices : [];
  const queue = Promise.resolve();
  const world: ReloadWorld = { clock, log, source, first, current: first, notices, problems, targets: null, queue };
  return {
    config: () => world.current.config,
    status: () => ({ file: world.current.path, applied: world.problems.length === 0, problems: world.problems }),
    notices: () => world.notices,
    reload: () => reload(world),
    start: (targets) => start(world, targets),
  };
}

/** In order: a save during a reload is read after it. Never rejects. */
function reload(world: ReloadWorld): Promise<ReloadReport> {
  const report = world.queue
    .then(() => reloadNow(world))
    .catch((error: unknown) => {
      world.log.error("configuration could not be reloaded", { error });
      const problems = [sentenceOf(error)];
      tell(world, problems, problems);
      return { changed: [], needsRestart: [], problems };
    });
  world.queue = report;
  return report;
}

async function reloadNow(world: ReloadWorld): Promise<ReloadReport> {
  const { log, first } = world;
  const next = await world.source.load();
  const { targets } = world;
  const verdict = judge(world.current, next);
  if (verdict.kind === "keep") {
    const { notices, needsRestart } = verdict;
    tell(world, notices, notices);
    log.warn("configuration not applied; the running one stays", { because: notices });
    await noteReload(world, { kind: "config.rejected", changed: [], needsRestart });
    return { changed: [], needsRestart, problems: notices };
  }
  const { changed, needsRestart } = verdict;
  if (targets && changed.length > 0) await apply(targets, next.config, changed);
  world.current = next;
  if (targets && changed.length > 0) await follow(targets, changed);
  tell(world, [...noticesOf(next), ...restartNotices(first.config, next.config)], []);
  if (changed.length > 0) {
    log.info("configuration reloaded", { changed, needsRestart });
    await noteReload(world, { kind: "config.reloaded", changed, needsRestart });
  }
  return { changed, needsRestart, problems: [] };
}

function tell(world: ReloadWorld, notices: readonly string[], problems: readonly string[]): void {
  world.notices = notices;
  world.problems = problems;
  world.targets?.events.emit("status", { what: "config" });
}

function start(world: ReloadWorld, targets: ReloadTargets): AsyncDisposable {
  world.targets = targets;
  const path = world.current.path ?? world.source.expectedPath;
  const watch = watchConfig(world, path, () => void reload(world));
  // in the same queue as reloads, so that no older configuration takes the place of a newer one
  const renew = (): void => {
    world.queue = world.queue.then(() => renewAgents(world, targets, world.current.config));
  };
  const skills = followSkills(world, targets.skills, renew);
  return {
    async [Symbol.asyncDispose]() {
      await watch[Symbol.asyncDispose]();
      skills[Symbol.dispose]();
      await world.queue;
    },
  };
}

interface NotedReload {
  readonly kind: "config.reloaded" | "config.rejected";
  readonly changed: readonly string[];
  readonly needsRestart: readonly string[];
}

/** Names of settings, never their values. A reload that cannot be written down holds all the same: it may take a right away. */
async function noteReload({ clock, log, targets }: ReloadWorld, { kind, ...detail }: NotedReload): Promise<void> {
  try {
    await targets?.audit.note({ kind, at: clock.now(), actor: "gateway", subject: "", detail: { ...detail } });
  } catch (error) {
    log.error("reload could not be written to the audit log", { error });
  }
}

function sentenceOf(error: unknown): string {
  return error instanceof Error && "say" in error ? String(error.say) : "The configuration could not be read.";
}

/** Never rejects: the agents of before go on. */
async function renewAgents({ log }: { readonly log: Log }, targets: ReloadTargets, config: Config): Promise<void> {
  if (!targets.skills.hasChanged()) return;
  try {
    targets.pool.replace(await targets.openPool(config));
    log.info("agents are replaced: the skills of plugins have changed");
  } catch (error) {
    log.error("skills of plugins not given to agents", { error });
  }
}

/** Calls when they have changed and stayed so for a moment; also for what has changed before. */
function followSkills(
  { clock }: { readonly clock: Clock },
  skills: ReloadTargets["skills"],
  renew: () => void,
): Disposable {
  let settling = new AbortController();
  const changed = (): void => {
    settling.abort();
    settling = new AbortController();
    clock.sleep(SKILLS_SETTLE_MS, settling.signal).then(renew, () => undefined); // changed once more, or the gateway stops
  };
  const following = skills.onChange(changed);
  if (skills.hasChanged()) changed();
  return {
    [Symbol.dispose]() {
      following[Symbol.dispose]();
      settling.abort();
    },
  };
}

type Verdict =
  | { readonly kind: "keep"; readonly notices: readonly string[]; readonly needsRestart: readonly string[] }
  | { readonly kind: "apply"; readonly changed: readonly string[]; readonly needsRestart: readonly string[] };

/** Files are moved while no agent works in the folder, which is before the first one starts. */
function scopeNotice(folder: string): string {
  return `The new configuration changes the scope of a workspace (${folder}). Restart the gateway to put it into effect: files are moved then.`;
}

/** A file that is gone, broken or weaker than what runs changes nothing, and neither does one that gives a workspace to other people. */
function judge(current: LoadedConfig, next: LoadedConfig): Verdict {
  if (current.path !== null && next.path === null) {
    const gone = `${current.path} is gone. The configuration it had stays in effect until the gateway is restarted.`;
    return { kind: "keep", notices: [gone], needsRestart: [] };
  }
  if (next.source === "last-good") return { kind: "keep", notices: noticesOf(next), needsRestart: [] };
  const { changed, needsRestart, weakensAuth } = diffConfig(current.config, next.config);
  if (weakensAuth) return { kind: "keep", notices: [WEAKER], needsRestart: changed };
  const folders = scopeChanges(current.config, next.config);
  if (folders.length > 0) return { kind: "keep", notices: folders.map(scopeNotice), needsRestart: changed };
  return { kind: "apply", changed, needsRestart };
}

/** Settings that say which folders belong to agents. */
const WORKSPACES = ["agent", "agents", "roles.profiles"];
/** Settings that decide which plugins run, from where, and which tools the gateway's own brings. */
const PLUGIN_SETTINGS = ["plugins", ...WORKSPACES, "tools.webSearch.provider", "tools.webFetch.enabled"];

/** A change of a section, or of something in it. */
function touching(changed: readonly string[]): (section: string) => boolean {
  return (section) => changed.some((key) => key === section || key.startsWith(`${section}.`));
}

/** Parts that are given the new configuration, and may refuse it. */
async function apply(targets: ReloadTargets, config: Config, changed: readonly string[]): Promise<void> {
  const touches = touching(changed);
  if (["agent", "agents", "models", "roles.profiles", "cron.enabled", "heartbeat.enabled"].some(touches))
    targets.pool.replace(await targets.openPool(config));
  if (touches("gateway") || touches("hooks")) targets.port.reload(config);
  if (touches("cron") || touches("heartbeat")) await targets.automation.reload(config);
  if (touches("channels") || touches("plugins.disabled")) void targets.platforms.apply(config);
  if (["media", ...WORKSPACES].some(touches)) await targets.files.reload(config);
  if (touches("mcp")) targets.mcpServers.apply(config.mcp);
  if (touches("logging")) targets.setLogging(config.logging);
}

/** Parts that ask for the settings of now: they are told when there are new ones. */
async function follow(targets: ReloadTargets, changed: readonly string[]): Promise<void> {
  targets.automation.settingsChanged();
  if (PLUGIN_SETTINGS.some(touching(changed))) await targets.plugins.refresh();
}

/** Compared with the start, not with the last reload: the notice stays for as long as it is true. */
function restartNotices(started: Config, now: Config): readonly string[] {
  return diffConfig(started, now).needsRestart.map((key) => `${key} was changed; it takes effect at the next start.`);
}

function noticesOf(loaded: LoadedConfig): readonly string[] {
  const file = loaded.path ?? "the configuration";
  const problems = [...loaded.problems, ...loaded.warnings].map((problem) => formatProblem(problem, file));
  if (loaded.source !== "last-good") return problems;
  return ["The configuration file is broken, so the last good one is in use.", ...problems];
}
