/** All tools there are, whoever brought them. A tool whose schema cannot be used is listed with the reason and never offered; it spoils nothing else. */
import type { Caller } from "../contracts/agent.ts";
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import type { AgentId, Principal, SessionKey } from "../contracts/ids.ts";
import { NO_TURN, type Tool, type ToolFactory, type ToolListing, type ToolRegistry } from "../contracts/tools/tool.ts";
import type { Log } from "../kit/log.ts";
import { type CheckResult, createSchemaCompiler } from "./schema/compile.ts";

type Compile = ReturnType<typeof createSchemaCompiler>;

export interface UsableTool {
  readonly tool: Tool;
  readonly plugin: string;
  check(params: unknown): CheckResult;
}

/** What the gate sees of it: tools as they are for one caller. */
export interface LiveToolRegistry extends ToolRegistry {
  usable(name: string, caller: Caller | null): UsableTool | null;
  /** In the order of registration. */
  allUsable(caller: Caller | null): readonly UsableTool[];
}

interface Entry {
  readonly plugin: string;
  /** Null: a factory that makes nothing for an owner; its name is known only when it makes something. */
  readonly name: string | null;
  readonly listing: ToolListing | null;
  /** Null: not for this caller, or quarantined. */
  made(caller: Caller | null): UsableTool | null;
}

const NAME = /^[a-z][a-z0-9_]{0,63}$/;

/** Factories are asked once with this, to learn what their tool is called. */
const SOMEBODY: Caller = {
  sessionKey: "agent:default:main" as SessionKey,
  turnId: NO_TURN,
  agentId: "default" as AgentId,
  principal: "operator" as Principal,
  role: "owner",
  origin: { channel: "api", account: "default", chat: "operator" },
};

export function createToolRegistry(deps: { readonly log: Log }): LiveToolRegistry {
  const compile = createSchemaCompiler(); // what schemas have in common is made once
  const entries = new Set<Entry>();
  const byName = new Map<string, Entry>();
  const listeners = new Set<() => void>();
  let revision = 0;

  const changed = (): void => {
    revision++;
    for (const listener of listeners) {
      try {
        listener();
      } catch (error) {
        deps.log.error("listener for changed tools failed", { error });
      }
    }
  };
  const nameless = (): readonly Entry[] => [...entries].filter(({ name }) => name === null);

  return {
    register(given, plugin) {
      const entry =
        typeof given === "function"
          ? factoryEntry({ ...deps, compile }, given, plugin)
          : toolEntry(compile, given, plugin);
      const taken = entry.name === null ? undefined : byName.get(entry.name);
      if (taken) throw collision(entry.name ?? "", taken.plugin);
      entries.add(entry);
      if (entry.name !== null) byName.set(entry.name, entry);
      changed();
      return {
        [Symbol.dispose]() {
          if (!entries.delete(entry)) return;
          if (entry.name !== null) byName.delete(entry.name);
          changed();
        },
      };
    },
    list: () => [...entries].flatMap(({ listing }) => (listing ? [listing] : [])),
    get revision() {
      return revision;
    },
    onChange(listener) {
      const own = (): void => listener();
      listeners.add(own);
      return { [Symbol.dispose]: () => void listeners.delete(own) };
    },
    usable(name, caller) {
      const known = byName.get(name);
      if (known) return known.made(caller);
      // a name that is registered is never answered by somebody's late factory
      for (const entry of nameless()) {
        const made = entry.made(caller);
        if (made?.tool.name === name) return made;
      }
      return null;
    },
    allUsable(caller) {
      const names = new Set(byName.keys());
      return [...entries].flatMap((entry) => {
        const made = entry.made(caller);
        if (!made || (entry.name === null && names.has(made.tool.name))) return [];
        names.add(made.tool.name);
        return [made];
      });
    },
  };
}

function collision(name: string, plugin: string): GatewayError {
  return new GatewayError("tool_collision", `${name} is registered by ${plugin}`, {
    fields: { tool: name, plugin },
    say: `There is a tool called ${name} already, from ${plugin}. Give this one another name.`,
  });
}

function toolEntry(compile: Compile, tool: Tool, plugin: string): Entry {
  const { usable, because } = judged(compile, tool, plugin);
  return { plugin, name: tool.name, listing: listingOf(tool, plugin, because), made: () => usable };
}

/** Made once for a lease: the object that stands for the caller is the same through all of it. */
function factoryEntry(
  { log, compile }: { readonly log: Log; readonly compile: Compile },
  factory: ToolFactory,
  plugin: string,
): Entry {
  const made = new WeakMap<Caller, UsableTool | null>();
  let registered = false;
  const make = (caller: Caller): Tool | null => {
    try {
      return factory(caller);
    } catch (error) {
      if (!registered && isGatewayError(error) && error.code === "plugin_invalid") throw error; // a wrong tool is its plugin's failure
      log.warn("tool factory failed", { plugin, error });
      return null;
    }
  };
  const sample = make(SOMEBODY);
  registered = true;
  const name = sample?.name ?? null;
  return {
    plugin,
    name,
    listing: sample && listingOf(sample, plugin, judged(compile, sample, plugin).because),
    made(caller) {
      const who = caller ?? SOMEBODY;
      const known = made.get(who);
      if (known !== undefined) return known;
      const tool = make(who);
      const fits = tool !== null && (name === null || tool.name === name);
      const usable = fits ? judged(compile, tool, plugin).usable : null;
      made.set(who, usable);
      return usable;
    },
  };
}

function judged(
  compile: Compile,
  tool: Tool,
  plugin: string,
): { readonly usable: UsableTool | null; readonly because: string | null } {
  if (!NAME.test(tool.name)) return { usable: null, because: "its name is not snake_case of at most 64 characters" };
  const compiled = compile(tool.parameters);
  if (compiled.kind === "quarantined") return { usable: null, because: compiled.because };
  return { usable: { tool, plugin, check: compiled.check }, because: null };
}

function listingOf(tool: Tool, plugin: string, because: string | null): ToolListing {
  const { name, label, description, parameters, flags, limit = null } = tool;
  const judgement = because === null ? { status: "ok" as const } : { status: "quarantined" as const, reason: because };
  return { name, label, description, parameters, plugin, flags, limit, ...judgement };
}
