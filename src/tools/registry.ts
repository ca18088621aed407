/**
 * All tools there are, whoever brought them. A tool whose name or schema cannot be used is quarantined: logged and listed with the reason,
 * never offered; it spoils nothing else.
 */
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
  /** Parameters with the schema's `default` where they were left out. */
  withDefaults(params: unknown): unknown;
  /** Parameters in the forms that the schema asks for, by the one rule of schema/values/coerce.ts. */
  coerce(params: unknown): unknown;
  /** Of `structured` in a result; null: the tool says nothing about that. */
  readonly checkOutput: ((structured: unknown) => CheckResult) | null;
}

interface QuarantinedTool {
  readonly tool: Tool;
  readonly reason: string;
}

/** What the gate sees of it: tools as they are for one caller. */
export interface LiveToolRegistry extends ToolRegistry {
  usable(name: string, caller: Caller | null): UsableTool | null;
  /** In the order of registration. */
  allUsable(caller: Caller | null): readonly UsableTool[];
  /** The tool of this name when it is registered and may not be used; else null. */
  quarantined(name: string): QuarantinedTool | null;
  /** True when a tool of exactly this name is registered, usable or not. */
  has(name: string): boolean;
}

interface Entry {
  readonly plugin: string;
  /** Null: a factory that makes nothing for an owner; its name is known only when it makes something. */
  readonly name: string | null;
  readonly listing: ToolListing | null;
  readonly quarantined: QuarantinedTool | null;
  /** Null: not for this caller, or quarantined. */
  made(caller: Caller | null): UsableTool | null;
}

/** Every model provider takes these names: OpenAI and Anthropic refuse a whole request for any other. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** Google alone asks for more. */
const TAKEN_BY_GOOGLE = /^[A-Za-z_]/;

/**
 * Names that differ in case alone are one name: with an Anthropic login pi looks a called tool up without regard to case, and would run the
 * other one. `-` and `_` are told apart by every provider.
 */
const nameKey = (name: string): string => name.toLowerCase();

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
  const byName = createNameIndex();
  const changes = createChanges(deps.log);
  const nameless = (): readonly Entry[] => [...entries].filter(({ name }) => name === null);

  return {
    register(given, plugin) {
      const entry =
        typeof given === "function"
          ? factoryEntry({ ...deps, compile }, given, plugin)
          : toolEntry(compile, given, plugin);
      const taken = byName.alike(entry.name);
      if (taken) throw collision(entry.name ?? "", taken);
      entries.add(entry);
      byName.add(entry);
      logJudgement(deps.log, entry);
      changes.tell();
      return {
        [Symbol.dispose]() {
          if (!entries.delete(entry)) return;
          byName.delete(entry);
          changes.tell();
        },
      };
    },
    list: () => [...entries].flatMap(({ listing }) => (listing ? [listing] : [])),
    get revision() {
      return changes.revision;
    },
    onChange: changes.onChange,
    usable(name, caller) {
      const known = byName.alike(name);
      if (known) return known.name === name ? known.made(caller) : null;
      // a name that is registered is never answered by somebody's late factory
      for (const entry of nameless()) {
        const made = entry.made(caller);
        if (made?.tool.name === name) return made;
      }
      return null;
    },
    allUsable(caller) {
      const late = new Set<string>();
      return [...entries].flatMap((entry) => {
        const made = entry.made(caller);
        if (!made || entry.name !== null) return made ? [made] : [];
        const key = nameKey(made.tool.name);
        if (late.has(key) || byName.alike(made.tool.name)) return [];
        late.add(key);
        return [made];
      });
    },
    quarantined: (name) => byName.exact(name)?.quarantined ?? null,
    has: (name) => byName.exact(name) !== null,
  };
}

function createChanges(log: Log) {
  const listeners = new Set<() => void>();
  const changes = {
    revision: 0,
    tell(): void {
      changes.revision++;
      for (const listener of listeners) {
        try {
          listener();
        } catch (error) {
          log.error("listener for changed tools failed", { error });
        }
      }
    },
    onChange(listener: () => void): Disposable {
      const own = (): void => listener();
      listeners.add(own);
      return { [Symbol.dispose]: () => void listeners.delete(own) };
    },
  };
  return changes;
}

/** Entries by name; those without one are not in it. */
function createNameIndex() {
  const entries = new Map<string, Entry>();
  const alike = (name: string | null): Entry | undefined => (name === null ? undefined : entries.get(nameKey(name)));
  return {
    /** The one with this name, in whatever case. */
    alike,
    exact(name: string): Entry | null {
      const entry = alike(name);
      return entry?.name === name ? entry : null;
    },
    add: (entry: Entry) => void (entry.name !== null && entries.set(nameKey(entry.name), entry)),
    delete: (entry: Entry) => void (entry.name !== null && entries.delete(nameKey(entry.name))),
  };
}

function collision(name: string, { name: taken, plugin }: Entry): GatewayError {
  const alike = taken === name ? "" : ` Names that differ from ${name} in case alone are the same name.`;
  return new GatewayError("tool_collision", `${name} is registered by ${plugin}`, {
    fields: { tool: name, plugin },
    say: `There is a tool called ${taken} already, from ${plugin}.${alike} Give this one another name.`,
  });
}

/** A tool that is missing or checked in part is the owner's business, also when nobody looks at the list. */
function logJudgement(log: Log, { listing, plugin }: Entry): void {
  if (listing?.status === "quarantined")
    log.warn("tool quarantined", { tool: listing.name, plugin, reason: listing.reason });
  for (const notice of listing?.notices ?? []) log.warn("tool has a notice", { tool: listing?.name, plugin, notice });
}

function toolEntry(compile: Compile, tool: Tool, plugin: string): Entry {
  const judgement = judged(compile, tool, plugin);
  return {
    plugin,
    name: tool.name,
    listing: listingOf(tool, plugin, judgement),
    quarantined: quarantinedOf(tool, judgement),
    made: () => judgement.usable,
  };
}

/** Made once for a lease: the object that stands for the caller is the same through all of it. */
function factoryEntry(
  { log, compile }: { readonly log: Log; readonly compile: Compile },
  factory: ToolFactory,
  plugin: string,
): Entry {
  const made = new WeakMap<Caller, UsableTool | null>();
  const compileOnce = remembering(compile);
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
  const judgement = sample && judged(compileOnce, sample, plugin);
  return {
    plugin,
    name,
    listing: sample && judgement && listingOf(sample, plugin, judgement),
    quarantined: sample && judgement && quarantinedOf(sample, judgement),
    made(caller) {
      const who = caller ?? SOMEBODY;
      const known = made.get(who);
      if (known !== undefined) return known;
      const tool = make(who);
      const fits = tool !== null && (name === null || tool.name === name);
      const usable = fits ? judged(compileOnce, tool, plugin).usable : null;
      made.set(who, usable);
      return usable;
    },
  };
}

/** Of one factory: its parameters and its results, each as it made them last or the time before. */
const MAX_REMEMBERED = 4;

/** A factory makes its tool anew for every turn, nearly always with the same schemas: what was found out about them still holds. */
function remembering(compile: Compile): Compile {
  const known = new Map<string, ReturnType<Compile>>();
  return (schema) => {
    const text = jsonText(schema);
    if (text === null) return compile(schema);
    const compiled = known.get(text) ?? compile(schema);
    const [oldest] = known.keys();
    if (!known.has(text) && known.size >= MAX_REMEMBERED && oldest !== undefined) known.delete(oldest);
    known.set(text, compiled);
    return compiled;
  };
}

/** Null: it cannot be written as JSON, such as one that contains itself. */
function jsonText(schema: unknown): string | null {
  try {
    return JSON.stringify(schema) ?? null;
  } catch {
    return null; // the compiler says what is wrong with it
  }
}

interface Judgement {
  readonly usable: UsableTool | null;
  /** Why it cannot be used; null: it can. */
  readonly because: string | null;
  readonly notices: readonly string[];
}

function judged(compile: Compile, tool: Tool, plugin: string): Judgement {
  const no = (because: string): Judgement => ({ usable: null, because, notices: [] });
  if (!TOOL_NAME.test(tool.name))
    return no("Its name is not 1 to 64 letters, digits, _ or -, which is what model providers take. Rename it.");
  const compiled = compile(tool.parameters);
  if (compiled.kind === "quarantined") return no(compiled.because);
  const { check, withDefaults, coerce } = compiled;
  const output = tool.outputSchema === undefined ? null : compile(tool.outputSchema);
  if (output?.kind === "quarantined") return no(`Its outputSchema cannot be used. ${output.because}`);
  const offered = compiled.offered === null ? tool : { ...tool, parameters: compiled.offered };
  const first = TAKEN_BY_GOOGLE.test(tool.name)
    ? []
    : ["Its name does not begin with a letter or _: Google refuses it."];
  return {
    usable: { tool: offered, plugin, check, withDefaults, coerce, checkOutput: output?.check ?? null },
    because: null,
    notices: [...first, ...compiled.notices],
  };
}

function quarantinedOf(tool: Tool, { because }: Judgement): QuarantinedTool | null {
  return because === null ? null : { tool, reason: because };
}

function listingOf(tool: Tool, plugin: string, { because, notices }: Judgement): ToolListing {
  const { name, label, description, parameters, outputSchema, flags, limit = null, origins, approval } = tool;
  const judgement = because === null ? { status: "ok" as const } : { status: "quarantined" as const, reason: because };
  return {
    name,
    label,
    description,
    parameters,
    ...(outputSchema ? { outputSchema } : {}),
    plugin,
    flags,
    limit,
    ...(origins === undefined ? {} : { origins }),
    ...(approval === undefined ? {} : { approval }),
    ...judgement,
    ...(notices.length > 0 ? { notices } : {}),
  };
}
