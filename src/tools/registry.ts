/** The tools there are. A tool whose schema cannot be used is quarantined alone, with the reason; it never spoils a request or another tool. */
import type { Tool, ToolListing } from "../contracts/tools/tool.ts";
import { type CompiledSchema, createSchemaCompiler } from "./schema/compile.ts";

export interface RegisteredTool {
  readonly tool: Tool;
  readonly status: ToolListing["status"];
  /** Why it is quarantined. */
  readonly reason?: string;
  /** The problems of `params`, phrased for a model; empty when they are valid. A quarantined tool never has valid ones. */
  problems(params: unknown): readonly string[];
}

export interface ToolRegistry {
  get(name: string): RegisteredTool | undefined;
  /** What may be offered to agents. */
  list(): readonly Tool[];
  /** Every tool with its status, for operators. */
  listings(): readonly ToolListing[];
}

const NAME = /^[a-z][a-z0-9_]{0,63}$/;

export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const registered = new Map<string, RegisteredTool>();
  const compile = createSchemaCompiler();
  for (const tool of tools) {
    if (!NAME.test(tool.name))
      throw new Error(`"${tool.name}" is not a tool name: use snake_case, 64 characters at most`);
    if (registered.has(tool.name)) throw new Error(`two tools are called ${tool.name}`);
    registered.set(tool.name, { tool, ...statusOf(compile(tool.parameters)) });
  }
  const all = [...registered.values()];
  return {
    get: (name) => registered.get(name),
    list: () => all.filter(({ status }) => status === "ok").map(({ tool }) => tool),
    listings: () => all.map(listingOf),
  };
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

function listingOf({ tool, status, reason }: RegisteredTool): ToolListing {
  const { name, label, description, parameters, flags, limit = null } = tool;
  const why = reason === undefined ? {} : { reason };
  return { name, label, description, parameters, plugin: "gateway", flags, limit, status, ...why };
}
