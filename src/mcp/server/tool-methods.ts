/** `tools/list` and `tools/call`. Every call passes the gate, as the caller that the port found. */
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { McpAsking } from "../../contracts/mcp-door.ts";
import type { ToolOutcome, ToolResult } from "../../contracts/tools/tool.ts";
import type { McpDoorDeps } from "./deps.ts";
import { pageOf } from "./paging.ts";
import { inRounds, type RoundCall, type RoundDeps } from "./rounds.ts";
import { mcpResult, mcpTool } from "./tool-forms.ts";

type ToolMethodDeps = Pick<McpDoorDeps, "tools" | "log">;

interface ToolCall {
  readonly name: string;
  readonly params: unknown;
}

export function serveTools(deps: ToolMethodDeps, rounds: RoundDeps, server: Server, asking: McpAsking): void {
  const { gate } = deps.tools;
  server.setRequestHandler("tools/list", ({ params }) => {
    const flags = new Map(deps.tools.list().tools.map((tool) => [tool.name, tool.flags]));
    // tools about the conversation they are called in are of no use here: there is none
    const useful = gate.specs(asking.caller).filter(({ name }) => !flags.get(name)?.inConversation);
    const tools = useful.map((spec) => mcpTool(spec, flags.get(spec.name)));
    const { items, next } = pageOf(tools, params?.cursor);
    return { tools: [...items], ...(next === undefined ? {} : { nextCursor: next }) };
  });
  server.setRequestHandler("tools/call", ({ params }, ctx) => {
    const call: ToolCall = { name: params.name, params: params.arguments ?? {} };
    const of = `tools/call ${JSON.stringify([call.name, call.params])}`;
    const run = async (running: RoundCall): Promise<CallToolResult> => {
      const outcome = await callTool(deps, asking, { call, running, ctx });
      if (outcome.kind === "refused" && outcome.code === "unknown_tool")
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, outcome.message);
      const spec = gate.specs(asking.caller).find(({ name }) => name === call.name);
      return server.projectCallToolResult(mcpResult(call.name, outcome), spec?.outputSchema);
    };
    return inRounds(rounds, server, { asking, of, run }, ctx);
  });
}

interface AskedCall {
  readonly call: ToolCall;
  readonly running: RoundCall;
  readonly ctx: ServerContext;
}

function callTool({ tools, log }: ToolMethodDeps, { caller }: McpAsking, asked: AskedCall): Promise<ToolOutcome> {
  const { call, running, ctx } = asked;
  const { callId, client, signal } = running;
  const context = { ...caller, client };
  const { progressToken } = ctx.mcpReq._meta ?? {};
  const request = { tool: call.name, callId, params: call.params, path: "mcp", context } as const;
  if (progressToken === undefined) return tools.gate.call(request, signal);
  let progress = 0;
  const onUpdate = (partial: ToolResult): void => {
    const params = { progressToken, progress: ++progress, message: textOf(partial) };
    // a client that has gone, or is between two rounds, hears no progress
    ctx.mcpReq
      .notify({ method: "notifications/progress", params })
      .catch((error: unknown) => log.debug("progress not sent to an MCP client", { error }));
  };
  return tools.gate.call({ ...request, onUpdate }, signal);
}

function textOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}
