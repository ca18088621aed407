/** All plugins of the gateway: finds them, runs those that are wanted, follows their folders and settings, and says how each of them is. */
import { errorText } from "../contracts/errors.ts";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/index.ts";
import type { Events } from "../contracts/events.ts";
import type { GatewayPlugin, PluginHost, PluginStatus } from "../contracts/plugin.ts";
import { background } from "../kit/background.ts";
import type { Clock } from "../kit/clock.ts";
import { orAborted } from "../kit/deferred.ts";
import type { Log } from "../kit/log.ts";
import { nearest } from "../kit/nearest.ts";
import type { Secret } from "../kit/secret.ts";
import { wrapSecrets } from "./folder/check-config.ts";
import { type Discovered, discoverPlugins, pluginRoots, type Usable } from "./folder/discover.ts";
import type { PluginHooks } from "./hooks.ts";
import type { PluginServices } from "./run/api.ts";
import { type SourceLocation, createSourceLocation, NO_LOCATION } from "./run/source-location.ts";
import { createSlot, type Slot, type Wanted } from "./run/slot.ts";
import { clearPluginCopies, createPluginCopy, pluginCopiesFolder } from "./run/plugin-copy.ts";
import { provideModules, type SdkModules } from "./run/sdk-modules.ts";
import { pluginInStack, type StrayKind, watchStrayErrors } from "./stray-errors.ts";
import { watchFolders } from "./watch.ts";

interface PluginsDeps extends Omit<PluginServices, "hooks"> {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  readonly hooks: PluginHooks;
  /** From now on this value is scrubbed from every log line. */
  hide(secret: Secret): Disposable | void;
  /** An error that nobody caught and no plugin is to blame for. False: it ends the process. */
  ofNoPlugin(error: unknown, how: StrayKind): boolean;
}

export interface PluginsOptions {
  readonly home: string;
  readonly userHome: string;
  readonly version: string;
  /** What comes with the gateway: plugins like any other, only without a folder. */
  readonly builtin: readonly BuiltinPlugin[];
  /** What plugins may import from the gateway by name. */
  readonly modules: SdkModules;
  /** Channels and tools that ship with the gateway: `plugins.disabled` may name them as well. */
  readonly disabledIds: readonly string[];
  config(): Config["plugins"];
  /** Where agents write. */
  agentFolders(): readonly string[];
}

export interface BuiltinPlugin {
  readonly id: string;
  readonly init: GatewayPlugin;
  /** What it brings with the settings of now; when that changes it is started anew. */
  key?(): string;
}

export interface Plugins extends PluginHost, AsyncDisposable {
  /** Looks again. Resolves when every plugin is as it should be, or has failed. */
  refresh(): Promise<void>;
}

/** A start waits this long for plugins; what takes longer comes up while the gateway works already. */
const START_WAIT_MS = 2_000;

interface Host {
  readonly deps: PluginsDeps;
  readonly options: PluginsOptions;
  readonly slots: Map<string, Slot>;
  /** Of the newest load of each plugin. */
  readonly locations: Map<string, SourceLocation>;
  loads: number;
}

export async function startPlugins(deps: PluginsDeps, options: PluginsOptions): Promise<Plugins> {
  const host: Host = { deps, options, slots: new Map(), locations: new Map(), loads: 0 };
  provideModules(options.modules);
  await clearPluginCopies(options.home);
  await mkdir(join(options.home, "plugins"), { recursive: true, mode: 0o700 });
  const stray = watchStrayErrors((error, how) => blame(host, error) || deps.ofNoPlugin(error, how));
  const troubles = deps.hooks.onTrouble((id, sentence, error) =>
    host.slots.get(id)?.note(`${sentence}${whereOf(host, id, error)}`),
  );
  await startBuiltin(host);
  await bounded(deps.clock, refresh(host));
  let roots = rootsOf(host);
  let watching = watchFolders(deps, roots, () => look(host));

  return {
    list: () => [...host.slots.values()].map((slot) => slot.status()),
    notices: () => noticesOf(host),
    route: (id, method, path) => host.slots.get(id)?.running?.route(method, path) ?? null,
    reload: (id) => reload(host, id),
    async refresh() {
      const next = rootsOf(host);
      if (next.join("\n") !== roots.join("\n")) {
        roots = next;
        await watching[Symbol.asyncDispose]();
        watching = watchFolders(deps, roots, () => look(host));
      }
      await startBuiltin(host);
      await refresh(host);
    },
    async [Symbol.asyncDispose]() {
      await watching[Symbol.asyncDispose]();
      await Promise.all([...host.slots.values()].map((slot) => slot.want(ended(slot))));
      troubles[Symbol.dispose]();
      stray[Symbol.dispose]();
    },
  };
}

function rootsOf({ options }: Host): readonly string[] {
  return pluginRoots(options.config(), options);
}

async function startBuiltin(host: Host): Promise<void> {
  const { options } = host;
  const about = { builtin: true, version: options.version, folder: null, digest: null };
  for (const { id, init, key = () => "" } of options.builtin) {
    const identity = { ...about, id, config: {}, storageFile: storageFile(host, id), location: NO_LOCATION };
    const off = options.config().disabled.includes(id);
    await slotOf(host, id).want(
      off
        ? { kind: "stopped", state: "disabled", about, why: null }
        : {
            kind: "run",
            key: `builtin ${key()}`,
            about,
            source: { ...identity, load: async () => init },
            cleanUp: async () => undefined,
          },
    );
  }
}

/** Something in a folder has changed. */
function look(host: Host): void {
  background(host.deps.log, "plugins could not be looked for", () => refresh(host));
}

/** Each plugin goes its own way: one that hangs keeps no other waiting. */
async function refresh(host: Host): Promise<void> {
  const { options } = host;
  const owner = process.getuid?.() ?? null;
  const found = discoverPlugins(options.config(), { ...options, owner, agentFolders: options.agentFolders() });
  const builtin = new Set(options.builtin.map(({ id }) => id));
  const folders = found.filter(({ id }) => !builtin.has(id));
  const ids = new Set(folders.map(({ id }) => id));
  const lost = [...host.slots].filter(([id]) => !builtin.has(id) && !ids.has(id));
  await Promise.all([
    ...folders.map((one) => slotOf(host, one.id).want(wantedOf(host, one))),
    ...lost.map(async ([id, slot]) => {
      await slot.want(ended(slot));
      if (slot.running) return; // it came back meanwhile
      host.slots.delete(id);
      host.deps.events.emit("status", { what: "plugins" });
    }),
  ]);
}

/** The same files once more, from a new copy: a module that was loaded is never read again. */
async function reload(host: Host, id: string): Promise<PluginStatus | null> {
  const slot = host.slots.get(id);
  if (!slot || slot.status().builtin) return null;
  slot.forgetStart();
  await refresh(host);
  return host.slots.get(id)?.status() ?? null;
}

function wantedOf(host: Host, found: Discovered): Wanted {
  if (found.kind === "usable") return runOf(host, found);
  const about = { builtin: false, version: null, folder: found.folder, digest: null };
  if (found.kind === "refused") return { kind: "stopped", state: "failed", about, why: found.why };
  return { kind: "stopped", state: found.kind, about, why: null };
}

function runOf(host: Host, found: Usable): Wanted {
  const { id, folder, digest, manifest, config } = found;
  const copy = createPluginCopy(host.options.home, found, ++host.loads);
  const given = wrapSecrets(manifest, config, (secret) => host.deps.hide(secret));
  const location = createSourceLocation(copy.folder, found);
  host.locations.set(id, location);
  const about = { id, version: manifest.version, config: given, folder, digest };
  const identity = { ...about, storageFile: storageFile(host, id), location };
  return {
    kind: "run",
    key: `${digest} ${JSON.stringify(config)}`,
    about: { builtin: false, version: manifest.version, folder, digest },
    source: { ...identity, load: copy.load },
    cleanUp: copy.remove,
  };
}

function slotOf(host: Host, id: string): Slot {
  const found = host.slots.get(id);
  if (found) return found;
  const { deps } = host;
  const changed = () => deps.events.emit("status", { what: "plugins" });
  const made = createSlot({ ...deps, changed }, deps, id);
  host.slots.set(id, made);
  return made;
}

function ended(slot: Slot): Wanted {
  const { builtin, version, folder, digest } = slot.status();
  return { kind: "stopped", state: "available", about: { builtin, version, folder, digest }, why: null };
}

function blame(host: Host, error: unknown): boolean {
  const id = pluginInStack(error, pluginCopiesFolder(host.options.home));
  const slot = id === null ? undefined : host.slots.get(id);
  if (!slot) return false;
  const why = errorText(error) || "it did not say what is wrong";
  const where = whereOf(host, id ?? "", error);
  host.locations.get(id ?? "")?.shown(error);
  host.deps.log.error("a plugin let an error escape and is stopped", { plugin: id, error });
  void slot.fail(`It let an error escape: ${why.split("\n", 1)[0]}${where}`);
  return true;
}

function whereOf({ locations }: Host, id: string, error: unknown): string {
  const at = locations.get(id)?.of(error) ?? null;
  return at === null ? "" : ` (${at})`;
}

function noticesOf(host: Host): readonly string[] {
  return [...unknownDisabled(host), ...slotNotices(host)];
}

/** A name in `plugins.disabled` that means nothing leaves running what the owner wanted to stop. */
function unknownDisabled({ slots, options }: Host): readonly string[] {
  const known = [...slots.keys(), ...options.disabledIds];
  return options
    .config()
    .disabled.filter((id) => !known.includes(id))
    .map((id) => {
      const meant = nearest(id, known);
      const hint = meant === null ? "" : ` Did you mean ${meant}?`;
      return `plugins.disabled names ${id}, which is no plugin, channel or tool that can be disabled.${hint}`;
    });
}

function slotNotices({ slots }: Host): readonly string[] {
  return [...slots.values()].flatMap((slot) => {
    const { id, state, trouble, toolNotices } = slot.status();
    const lost = toolNotices.filter(({ quarantined }) => quarantined).map(({ tool }) => tool);
    return [
      ...(trouble === null ? [] : [`Plugin ${id} ${state === "failed" ? "does not run" : "has trouble"}: ${trouble}`]),
      ...(lost.length === 0
        ? []
        : [`Plugin ${id} has quarantined tools: ${shortList(lost)}. pi-gw tools list says why.`]),
    ];
  });
}

const MAX_LISTED = 5;

function shortList(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return `${names.slice(0, MAX_LISTED).join(", ")}${more}`;
}

function storageFile({ options }: Host, id: string): string {
  return join(options.home, "plugin-data", `${id}.json`);
}

async function bounded(clock: Clock, work: Promise<void>): Promise<void> {
  using limit = clock.deadline(START_WAIT_MS, () => new Error("plugins are still starting"));
  await orAborted(work, limit.signal).catch(() => undefined); // it goes on, and the status says how it ends
}
