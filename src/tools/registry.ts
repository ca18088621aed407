/** The tools there are, whoever brought them, live. A tool whose schema does not compile is quarantined alone, with the reason; it never spoils a request or another tool. */
import { Compile } from "typebox/schema";
import type { Caller } from "../contracts/agent.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { Tool, ToolFactory, ToolListing, ToolRegistry } from "../contracts/tools/tool.ts";

export interface RegisteredTool {
  readonly tool: Tool;
  /** The problems of `params`, phrased for a model; empty when they are valid. */
  problems(params: unknown): readonly string[];
}

export interface ToolShelf extends ToolRegistry {
  get(name: string, caller?: Caller | null): RegisteredTool | undefined;
  /** What this caller may be offered: no factory that has nothing for them, nothing quarantined. */
  for(caller: Caller | null): readonly Tool[];
}

interface Entry extends RegisteredTool {
  readonly plugin: string;
  readonly reason: string | null;
}

const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const MAX_PROBLEMS = 8;

export function createToolRegistry(builtin: readonly Tool[] = [], plugin = "gateway"): ToolShelf {
  const named = new Map<string, Entry>();
  const factories = new Map<ToolFactory, string>();
  const listeners = new Set<() => void>();
  let revision = 0;

  const changed = (): void => {
    revision++;
    for (const listener of listeners) listener();
  };
  const made = (caller: Caller | null): readonly Tool[] =>
    caller === null ? [] : [...factories.keys()].flatMap((factory) => factory(caller) ?? []);
  const add = (tool: Tool, owner: string): (() => void) => {
    if (!NAME.test(tool.name))
      throw new GatewayError("tool_collision", `"${tool.name}" is not a tool name`, {
        say: `"${tool.name}" is not a tool name: use snake_case, 64 characters at most.`,
      });
    const holder = named.get(tool.name);
    if (holder)
      throw new GatewayError("tool_collision", `two tools are called ${tool.name}`, {
        say: `The tool ${tool.name} is already there; ${holder.plugin} brought it.`,
      });
    const entry = { tool, plugin: owner, reason: unusable(tool), problems: checkerFor(tool) };
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
      if (found) return found.reason === null ? found : undefined;
      const tool = made(caller).find((one) => one.name === name);
      return tool && { tool, problems: checkerFor(tool) };
    },
    for: (caller) => [
      ...[...named.values()].filter(({ reason }) => reason === null).map(({ tool }) => tool),
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

function addFactory(factories: Map<ToolFactory, string>, factory: ToolFactory, owner: string): () => void {
  factories.set(factory, owner);
  return () => void factories.delete(factory);
}

function listing({ tool, plugin, reason }: Entry): ToolListing {
  const { name, label, description, parameters, flags, limit = null } = tool;
  const state = reason === null ? ({ status: "ok" } as const) : ({ status: "quarantined", reason } as const);
  return { name, label, description, parameters, plugin, flags, limit, ...state };
}

function unusable(tool: Tool): string | null {
  return tool.parameters["type"] === "object" ? null : "Its parameters are not an object.";
}

function checkerFor(tool: Tool): (params: unknown) => readonly string[] {
  let validator: ReturnType<typeof Compile> | null = null; // compiled at the first call: starting costs nothing
  return (params) => {
    validator ??= Compile(tool.parameters);
    if (validator.Check(params)) return [];
    const [, errors] = validator.Errors(params);
    return errors
      .slice(0, MAX_PROBLEMS)
      .map((error) => `${error.instancePath.slice(1).replaceAll("/", ".") || "parameters"}: ${error.message}`);
  };
}
