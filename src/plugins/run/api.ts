/** What a plugin may do: every registration is checked, remembered and withdrawn when the plugin goes. Nothing of the gateway itself is in reach. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TellMain } from "../../contracts/automation/jobs.ts";
import type { Command } from "../../contracts/command.ts";
import { isGatewayError } from "../../contracts/errors.ts";
import type { HookHandler, HookName, Hooks } from "../../contracts/plugin-hooks.ts";
import type {
  GatewayPluginApi,
  McpSurface,
  PluginMcp,
  PluginChannel,
  PluginProvides,
  PluginRoute,
  PluginService,
  PluginSkill,
  PluginTool,
  PluginToolFactory,
  SkillRegistry,
} from "../../contracts/plugin.ts";
import type { Tool, ToolFactory, ToolRegistry } from "../../contracts/tools/tool.ts";
import type { Log } from "../../kit/log.ts";
import type { SourceLocation } from "./source-location.ts";
import { checkRegistration, checkTool, checkWakeMode, invalid, VERBS } from "./check-registration.ts";
import { createStorage } from "./storage.ts";

/** What plugins get to work with. */
export interface PluginServices {
  readonly log: Log;
  readonly registry: Pick<ToolRegistry, "register" | "list">;
  readonly hooks: Hooks;
  readonly commands: { register(command: Command): Disposable };
  readonly skills: Pick<SkillRegistry, "add">;
  readonly platforms: { add(channel: PluginChannel): AsyncDisposable };
  readonly mcp: Pick<McpSurface, "add">;
  readonly tellMain: TellMain;
}

export interface PluginIdentity {
  readonly id: string;
  readonly version: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Null for what comes with the gateway. */
  readonly folder: string | null;
  readonly digest: string | null;
  readonly storageFile: string;
  /** Where its errors come from. */
  readonly location: SourceLocation;
}

export interface Registrations {
  readonly api: GatewayPluginApi;
  readonly services: readonly PluginService[];
  route(method: string, path: string): PluginRoute | null;
  provides(): PluginProvides;
  /** What was registered so far takes effect, and all that comes later at once. Throws at the first that cannot. */
  commit(): void;
  /** From now on nothing can be registered, and all that was is gone. */
  withdraw(): void;
  /** Resolves when what takes its time to go has gone. */
  gone(): Promise<void>;
}

type Kind = keyof PluginProvides;

const TOOL_MS = 60_000;
const ROUTE_PATH = /^(?!.*\/\.{1,2}(?:\/|$))\/(?:[\w.~-]+(?:\/[\w.~-]+)*)?$/;

interface Entry {
  readonly kind: Kind;
  readonly name: string;
  readonly value: unknown;
  readonly register: () => Disposable | null;
  undo: Disposable | null;
}

export function createRegistrations(
  services: PluginServices,
  plugin: PluginIdentity,
  signal: AbortSignal,
): Registrations {
  const kept = createKept(services.log, plugin.id);
  const leaving: Promise<void>[] = [];
  const leave = (work: Promise<void>): void => void leaving.push(work);
  const api = checked(createApi({ ...services, leave }, plugin, kept, signal), kept);
  return {
    api,
    get services() {
      return kept.values<PluginService>("services");
    },
    route: (method, path) =>
      kept.values<PluginRoute>("routes").find((route) => route.method === method && route.path === path) ?? null,
    provides: () => ({
      tools: kept.names("tools"),
      commands: kept.names("commands"),
      hooks: [...new Set(kept.names("hooks"))],
      routes: kept.names("routes"),
      services: kept.names("services"),
      skills: kept.names("skills"),
      channels: kept.names("channels"),
      mcp: kept.names("mcp").flatMap((names) => names.split(" ")),
    }),
    commit: kept.commit,
    withdraw: kept.withdraw,
    gone: async () => void (await Promise.all(leaving)),
  };
}

interface Leaving {
  leave(work: Promise<void>): void;
}

function createApi(
  services: PluginServices & Leaving,
  plugin: PluginIdentity,
  kept: Kept,
  signal: AbortSignal,
): GatewayPluginApi {
  const { id, version, config } = plugin;
  const api: GatewayPluginApi = {
    id,
    version,
    config,
    log: services.log.child({ plugin: id }),
    storage: createStorage(plugin.storageFile),
    signal,
    registerTool: (tool) =>
      kept.add("tools", toolName(tool), tool, () => services.registry.register(complete(tool, plugin), id)),
    registerCommand: (command) =>
      kept.add("commands", command.name, command, () =>
        services.commands.register(careful(services.log, plugin, command)),
      ),
    registerHook: (name, handler) =>
      kept.add("hooks", name, handler, () => services.hooks.on(name, placedHook(handler, plugin.location), id)),
    registerRoute(route) {
      if (!ROUTE_PATH.test(route.path)) throw invalid(`"${route.path}" is not a path: write it as /name.`);
      return kept.addOnce("routes", `${route.method} ${route.path}`, route);
    },
    registerService: (service) => kept.addOnce("services", service.name, service),
    registerSkill(skill) {
      const path = placed(skill, plugin);
      return kept.addOnce("skills", skill.name, skill, () => services.skills.add({ path, digest: plugin.digest }));
    },
    registerChannel: (channel) =>
      kept.add("channels", channel.id, channel, () => {
        const added = services.platforms.add(channel);
        return { [Symbol.dispose]: () => services.leave(Promise.resolve(added[Symbol.asyncDispose]())) };
      }),
    registerMcp: (shown) => kept.add("mcp", shownNames(shown), shown, () => services.mcp.add(shown)),
    async wake(text, mode = "now") {
      signal.throwIfAborted();
      checkWakeMode(mode);
      const told = await services.tellMain(`plugin ${id}`, { text, mode });
      if (told.kind !== "ok") throw invalid(told.say);
    },
  };
  return api;
}

/** Every registration is checked here, whatever the verb. A wrong one stops the plugin even when the plugin catches the error. */
function checked(api: GatewayPluginApi, kept: Kept): GatewayPluginApi {
  const verbs = VERBS.map((verb) => {
    const register = api[verb] as (...given: readonly unknown[]) => Disposable;
    const guarded = (...given: readonly unknown[]): Disposable => {
      try {
        checkRegistration(verb, given);
        return register(...given);
      } catch (error) {
        kept.spoil(error);
        throw error;
      }
    };
    return [verb, guarded] as const;
  });
  return { ...api, ...(Object.fromEntries(verbs) as Pick<GatewayPluginApi, (typeof VERBS)[number]>) };
}

/** Everything a plugin has registered, and how to take it back. */
interface Kept {
  add(kind: Kind, name: string, value: unknown, register: () => Disposable | null): Disposable;
  /** For names that are this plugin's own; without `register`, for what has no other place than this list. */
  addOnce(kind: Kind, name: string, value: unknown, register?: () => Disposable | null): Disposable;
  names(kind: Kind): readonly string[];
  values<T>(kind: Kind): readonly T[];
  /** A registration failed: before the commit, the plugin fails with it. */
  spoil(error: unknown): void;
  commit(): void;
  withdraw(): void;
}

function createKept(log: Log, plugin: string): Kept {
  const entries = new Set<Entry>();
  let open = true;
  let spoiled: { readonly error: unknown } | null = null;
  let committed = false; // until then nobody sees anything: a plugin is there as a whole or not at all
  const of = (kind: Kind): readonly Entry[] => [...entries].filter((one) => one.kind === kind);
  const kept: Kept = {
    names: (kind) => of(kind).map(({ name }) => name),
    values: <T>(kind: Kind) => of(kind).map(({ value }) => value as T), // kept under this kind only as this type
    add(kind, name, value, register) {
      if (!open) throw invalid("The plugin is stopped; nothing can be registered any more.");
      const entry: Entry = { kind, name, value, register, undo: committed ? register() : null };
      entries.add(entry);
      return {
        [Symbol.dispose]() {
          if (entries.delete(entry)) entry.undo?.[Symbol.dispose]();
        },
      };
    },
    addOnce(kind, name, value, register = () => null) {
      if (kept.names(kind).includes(name)) throw invalid(`It registers "${name}" twice.`);
      return kept.add(kind, name, value, register);
    },
    spoil(error) {
      if (open) log.warn("a plugin registered something wrong", { plugin, error });
      spoiled ??= { error };
    },
    commit() {
      if (spoiled) throw spoiled.error;
      for (const entry of entries) entry.undo = entry.register();
      committed = true;
    },
    withdraw() {
      open = false;
      for (const { undo, kind } of [...entries].reverse()) {
        try {
          undo?.[Symbol.dispose]();
        } catch (error) {
          log.error("something of a plugin could not be withdrawn", { plugin, kind, error });
        }
      }
      entries.clear();
    },
  };
  return kept;
}

function shownNames({ resources = [], prompts = [] }: PluginMcp): string {
  return [...resources.map(({ uri }) => uri), ...prompts.map(({ name }) => name)].join(" ");
}

function toolName(tool: PluginTool | PluginToolFactory): string {
  return typeof tool === "function" ? "a tool whose name depends on the caller" : tool.name;
}

/** What a factory makes is held to the same as a tool that is there from the start; when it makes something else, there is no tool. */
function complete(tool: PluginTool | PluginToolFactory, plugin: Pick<PluginIdentity, "location">): Tool | ToolFactory {
  if (typeof tool !== "function") return completed(tool, plugin);
  return (caller) => {
    const made = tool(caller);
    return made === null ? null : completed(made, plugin);
  };
}

function completed(tool: PluginTool, { location }: Pick<PluginIdentity, "location">): Tool {
  checkTool(tool);
  const { label = tool.name, flags = {}, timeoutMs = TOOL_MS } = tool;
  return {
    ...tool,
    label,
    timeoutMs,
    flags: { idempotent: false, ...flags },
    execute: tool.execute.bind(tool),
    locationOf: (error) => location.of(error),
  };
}

/** Whoever calls the hook sees its errors with the author's files. */
function placedHook<H extends HookName>(handler: HookHandler<H>, location: SourceLocation): HookHandler<H> {
  return (event, signal) => {
    try {
      const decided = handler(event, signal);
      if (!(decided instanceof Promise)) return decided;
      return decided.catch((error: unknown) => {
        throw location.shown(error);
      });
    } catch (error) {
      throw location.shown(error);
    }
  };
}

/** What a chat is told when a plugin's command fails; the reason is in the log. */
function careful(log: Log, { id, location }: PluginIdentity, command: Command): Command {
  return {
    ...command,
    async run(args, context, signal) {
      try {
        return await command.run(args, context, signal);
      } catch (error) {
        if (isGatewayError(error) || signal.aborted) throw error;
        log.warn("a command of a plugin failed", { plugin: id, command: command.name, error: location.shown(error) });
        return `/${command.name} did not work. The gateway's log has the reason.`;
      }
    },
  };
}

function placed(skill: PluginSkill, { folder }: PluginIdentity): string {
  if (folder === null || !ROUTE_PATH.test(`/${skill.path}`) || skill.path.split("/").includes(".."))
    throw invalid(`The skill ${skill.name} must lie in the plugin's own folder.`);
  if (!existsSync(join(folder, skill.path)))
    throw invalid(`The skill ${skill.name} is not there: the plugin has no ${skill.path}.`);
  return join(folder, skill.path);
}
