/** The tools there are. A tool whose schema does not compile is refused alone, with the reason; it never spoils a request or another tool. */
import { Compile } from "typebox/schema";
import type { Tool } from "../contracts/tools/tool.ts";

export interface RegisteredTool {
  readonly tool: Tool;
  /** The problems of `params`, phrased for a model; empty when they are valid. */
  problems(params: unknown): readonly string[];
}

export interface ToolRegistry {
  get(name: string): RegisteredTool | undefined;
  list(): readonly Tool[];
}

const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const MAX_PROBLEMS = 8;

export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const registered = new Map<string, RegisteredTool>();
  for (const tool of tools) {
    if (!NAME.test(tool.name))
      throw new Error(`"${tool.name}" is not a tool name: use snake_case, 64 characters at most`);
    if (registered.has(tool.name)) throw new Error(`two tools are called ${tool.name}`);
    registered.set(tool.name, { tool, problems: checkerFor(tool) });
  }
  return {
    get: (name) => registered.get(name),
    list: () => [...registered.values()].map(({ tool }) => tool),
  };
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
