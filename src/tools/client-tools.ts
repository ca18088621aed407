/**
 * Tools that a program brings to its own turn. A call passes every stage of the gate and leaves a row like any other; its result says that the
 * program runs it. The program checks its parameters.
 */
import type { Caller } from "../contracts/agent.ts";
import type { ClientTool } from "../contracts/client-request.ts";
import type { Tool, ToolSpec } from "../contracts/tools/tool.ts";
import { isObject } from "../kit/json.ts";
import type { UsableTool } from "./registry.ts";

const OWNER = "client";
const DELEGATED = "Tool execution delegated to client";
const TIMEOUT_MS = 1_000;

interface OfferedTool extends UsableTool {
  readonly tool: Tool & { readonly client: true };
}

export function clientSpecs(caller: Caller | null): readonly ToolSpec[] {
  return (caller?.clientTools ?? []).map(({ name, description, parameters }) => ({
    name,
    label: name,
    description,
    parameters,
    client: true,
  }));
}

/** Null: this caller's program has no tool of exactly this name. */
export function clientTool({ clientTools = [] }: Pick<Caller, "clientTools">, name: string): UsableTool | null {
  const given = clientTools.find((tool) => tool.name === name);
  return given ? usableOf(given) : null;
}

function usableOf({ name, description, parameters }: ClientTool): OfferedTool {
  return {
    plugin: OWNER,
    tool: {
      name,
      label: name,
      description,
      parameters,
      client: true,
      flags: { idempotent: true },
      timeoutMs: TIMEOUT_MS,
      async execute() {
        const said = { status: "pending", tool: name, message: DELEGATED };
        return { content: [{ type: "text", text: JSON.stringify(said) }] };
      },
    },
    check: (params) =>
      isObject(params) ? { ok: true } : { ok: false, problems: [{ path: "", message: "no object" }] },
    withDefaults: (params) => params,
    coerce: (params) => params,
    checkOutput: null,
  };
}
