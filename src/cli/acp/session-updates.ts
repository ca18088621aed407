/** What an editor is shown of a turn, and what it says, in the forms of ACP. Pure. */
import { isAbsolute, resolve } from "node:path";
import type {
  ContentBlock,
  SessionUpdate,
  ToolCallContent,
  ToolCallLocation,
  ToolCallStatus,
  ToolKind,
} from "@agentclientprotocol/sdk";
import type { ToolStatus, TranscriptItem } from "../../contracts/chat.ts";
import type { GatewayEvents } from "../../contracts/events.ts";
import { isObject } from "../../kit/json.ts";

/** pi tools and built-in tools that editors have a picture for. */
const KINDS: Readonly<Record<string, ToolKind>> = {
  read: "read",
  write: "edit",
  edit: "edit",
  bash: "execute",
  grep: "search",
  find: "search",
  ls: "search",
  search_notes: "search",
  web_search: "search",
  tool_search: "search",
  web_fetch: "fetch",
};

const STATUSES: Readonly<Record<ToolStatus, ToolCallStatus>> = {
  running: "in_progress",
  pending: "pending",
  success: "completed",
  error: "failed",
  blocked: "failed",
  unknown: "failed",
};

export function textChunk(text: string, who: "agent" | "user" = "agent"): SessionUpdate {
  return { sessionUpdate: `${who}_message_chunk`, content: { type: "text", text } };
}

/** `begun`: the editor knows the call already. `cwd`: where relative paths begin. */
export function toolUpdate(news: GatewayEvents["turn.tool"], begun: boolean, cwd: string): SessionUpdate {
  const { callId, status, output, progress } = news;
  const said = output ?? progress;
  const shown: ToolCallContent[] = said ? [{ type: "content", content: { type: "text", text: said } }] : [];
  const state = STATUSES[status];
  if (!begun) {
    const facts = callFacts(news.tool, news.input, cwd);
    return { sessionUpdate: "tool_call", toolCallId: callId, status: state, ...facts };
  }
  const update = { sessionUpdate: "tool_call_update", toolCallId: callId, status: state } as const;
  return shown.length > 0 ? { ...update, content: shown } : update;
}

interface CallFacts {
  readonly title: string;
  readonly name: string;
  readonly kind: ToolKind;
  readonly rawInput: unknown;
  readonly content: ToolCallContent[];
  readonly locations: ToolCallLocation[];
}

/** What is known of a call from its name and input: which kind it is, which file it is about, what it changes there. */
export function callFacts(tool: string, input: unknown, cwd: string): CallFacts {
  const fields = isObject(input) ? input : {};
  const path = textIn(fields, "path") ?? textIn(fields, "file_path");
  const at = path === null ? null : isAbsolute(path) ? path : resolve(cwd, path);
  const about = path ?? textIn(fields, "command") ?? textIn(fields, "query") ?? textIn(fields, "title");
  return {
    title: about === null ? tool : `${tool}: ${about}`,
    name: tool,
    kind: KINDS[tool] ?? "other",
    rawInput: input,
    content: at === null ? [] : diffsOf(tool, fields, at),
    locations: at === null ? [] : [{ path: at }],
  };
}

function diffsOf(tool: string, fields: Readonly<Record<string, unknown>>, path: string): ToolCallContent[] {
  const content = textIn(fields, "content");
  if (tool === "write" && content !== null) return [{ type: "diff", path, newText: content }];
  if (tool !== "edit") return [];
  const edits: unknown = fields["edits"] ?? [fields];
  return (Array.isArray(edits) ? edits : []).flatMap((edit: unknown) => {
    const [oldText, newText] = isObject(edit) ? [textIn(edit, "oldText"), textIn(edit, "newText")] : [null, null];
    return oldText === null || newText === null ? [] : [{ type: "diff" as const, path, oldText, newText }];
  });
}

function textIn(fields: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = fields[name];
  return typeof value === "string" ? value : null;
}

/** A conversation of before, as it was said. */
export function replayOf({ role, text, deleted }: TranscriptItem): readonly SessionUpdate[] {
  if (text === "" || deleted || role === "tool") return [];
  return [textChunk(text, role === "assistant" ? "agent" : "user")];
}

interface PromptParts {
  readonly text: string;
  readonly images: readonly { readonly mimeType: string; readonly data: string }[];
}

/** Files that the editor sends along are quoted below the words, each with its address. */
export function promptParts(blocks: readonly ContentBlock[]): PromptParts {
  const texts: string[] = [];
  const images: { mimeType: string; data: string }[] = [];
  for (const block of blocks) {
    if (block.type === "text") texts.push(block.text);
    else if (block.type === "resource_link") texts.push(`[${block.name}](${block.uri})`);
    else if (block.type === "image") images.push({ mimeType: block.mimeType, data: block.data });
    else if (block.type === "resource" && "text" in block.resource)
      texts.push(`${block.resource.uri}:\n\`\`\`\n${block.resource.text}\n\`\`\``);
  }
  return { text: texts.join("\n\n"), images };
}
