/** Tools and their results in the forms of MCP. Pure. */
import type { CallToolResult, ContentBlock, Tool } from "@modelcontextprotocol/server";
import { envelopeOf } from "../../contracts/tools/envelope.ts";
import type { ResultMedia, ToolFlags, ToolOutcome, ToolResult, ToolSpec } from "../../contracts/tools/tool.ts";

/** Where the code of a call that did not end well is told, besides the sentence. */
const CODE = "pi-gateway/code";

export function mcpTool(spec: ToolSpec, flags: ToolFlags | undefined): Tool {
  const { name, label, description, parameters, outputSchema } = spec;
  return {
    name,
    title: label,
    description,
    inputSchema: { ...parameters, type: "object" },
    ...(outputSchema ? { outputSchema: { ...outputSchema, type: "object" as const } } : {}),
    annotations: { title: label, ...(flags ? { idempotentHint: flags.idempotent } : {}) },
  };
}

/** A call that did not end well is told in the same envelope as on every other path. */
export function mcpResult(tool: string, outcome: ToolOutcome): CallToolResult {
  if (outcome.kind === "ok") return okResult(outcome.result);
  const text = JSON.stringify(envelopeOf(tool, outcome));
  const isError = outcome.kind !== "pending";
  return { content: [{ type: "text", text }], isError, _meta: { [CODE]: outcome.code } };
}

function okResult({ content, structured, media = [] }: ToolResult): CallToolResult {
  const blocks: ContentBlock[] = [...content.map((block) => ({ ...block })), ...media.map(mediaBlock)];
  return structured ? { content: blocks, structuredContent: { ...structured } } : { content: blocks };
}

export function mediaBlock(media: ResultMedia): ContentBlock {
  if (media.type === "audio") return { ...media };
  const { uri, mimeType, text } = media;
  return { type: "resource", resource: { uri, mimeType, text } };
}
