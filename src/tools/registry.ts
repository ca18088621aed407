/** The tools there are, whoever brought them, live. A tool whose schema cannot be used is quarantined alone, with the reason; it never spoils a request or another tool. */
import type { Caller } from "../contracts/agent.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { Tool, ToolFactory, ToolListing, ToolRegistry } from "../contracts/tools/tool.ts";
import { type CompiledSchema, createSchemaCompiler } from "./schema/compile.ts";

export interface RegisteredTool {
  readonly tool: Tool;
  readonly status: "ok" | "quarantined";
  readonly reason?: string;
  /** What is wrong with the parameters of a call, in sentences a model can act on. */
  problems(params: unknown): readonly string[];
}

export interface ToolShelf extends ToolRegistry {
  get(name: string, caller?: Caller | null): RegisteredTool | undefined;
  /** What this caller may be offered: no factory that has nothing for them, nothing quarantined. */
  for(caller: Caller | null): readonly Tool[];
}

interface Entry extends RegisteredTool {
  readonly plugin: string;
}

const NAME = /^[a-z][a-z0-9_]{0,63}$/;

export function createToolRegistry(builtin: readonly Tool[] = [], plugin = "gateway"): ToolShelf {
  const named = new Map<string, Entry>();
  const factories = new Map<ToolFactory, string>();
  const listeners = new Set<() => void>();
  const compile = createSchemaCompiler();
  let revision = 0;

  const changed = (): void => {
    revision++;
    for (const listener of listeners) listener();
  };
  const made = (caller: Caller | null): readonly Tool[] =>
    caller === null ? [] : [...factories.keys()].flatMap((factory) => factory(caller) ?? []);
  const add = (tool: Tool, owner: string): (() => void) => {
    checkName(tool, named.get(tool.name));
    const entry = { tool, plugin: owner, ...statusOf(compile(tool.parameters)) };
    named.set(tool.name, entry);
    return () => {
      if (named.get(tool.name) === entry) named.delete(tool.name);
    };
  };
  for (const tool of builtin) add(tool, plugin);

  return {
    get revision() {
      return revision;
    },
    get(name, caller = null) {
      const found = named.get(name);
      if (found) return found;
      const tool = made(caller).find((one) => one.name === name);
      return tool && { tool, ...statusOf(compile(tool.parameters)) };
    },
    for: (caller) => [
      ...[...named.values()].filter(({ status }) => status === "ok").map(({ tool }) => tool),
      ...made(caller).filter(({ name }) => !named.has(name)),
    ],
    list: () => [...named.values()].map(listing),
    register(tool, owner) {
      const remove = typeof tool === "function" ? addFactory(factories, tool, owner) : add(tool, owner);
      changed();
      let gone = false;
      return {
        [Symbol.dispose]() {
          if (gone) return;
          gone = true;
          remove();
          changed();
        },
      };
    },
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

function checkName({ name }: Tool, holder: Entry | undefined): void {
  if (!NAME.test(name))
    throw new GatewayError("tool_collision", `"${name}" is not a tool name`, {
      say: `"${name}" is not a tool name: use snake_case, 64 characters at most.`,
    });
  if (holder)
    throw new GatewayError("tool_collision", `two tools are called ${name}`, {
      say: `The tool ${name} is already there; ${holder.plugin} brought it.`,
    });
}

function addFactory(factories: Map<ToolFactory, string>, factory: ToolFactory, owner: string): () => void {
  factories.set(factory, owner);
  return () => void factories.delete(factory);
}

function statusOf(schema: CompiledSchema): Omit<RegisteredTool, "tool"> {
  if (schema.kind === "quarantined") {
    const { because } = schema;
    return { status: "quarantined", reason: because, problems: () => [`the tool cannot be used. ${because}`] };
  }
  return { status: "ok", problems: (params) => problemsOf(schema.check(params)) };
}

function problemsOf(check: ReturnType<Extract<CompiledSchema, { kind: "ok" }>["check"]>): readonly string[] {
  return check.ok ? [] : check.problems.map(({ path, message }) => `${path || "parameters"}: ${message}`);
}

function listing({ tool, plugin, status, reason }: Entry): ToolListing {
  const { name, label, description, parameters, flags, limit = null } = tool;
  const why = reason === undefined ? {} : { reason };
  return { name, label, description, parameters, plugin, flags, limit, status, ...why };
}
