/** `/tools`: which tools there are for this person, and which they have used: their own calls from the audit log, never those of others. */
import type { Command, CommandContext } from "../contracts/command.ts";
import type { AuditRow, ToolCallStore } from "../contracts/store/tool-calls.ts";
import { bullets, oneLine } from "./replies.ts";
import { MEMBERS } from "./roles.ts";

interface HistoryCommandDeps {
  readonly toolCalls: Pick<ToolCallStore, "list">;
  /** `/tool` without a name. */
  list(context: CommandContext, signal: AbortSignal): Promise<string>;
}

const DEFAULT_SHOWN = 10;
const MAX_SHOWN = 50;
const MAX_INPUT_CHARS = 120;
const HISTORY = /^history(?:\s+(\d{1,3}))?$/i;
const USAGE =
  "`/tools history` shows your last tool calls, `/tools history 30` more of them; `/tools` which tools there are.";

export function historyCommand(deps: HistoryCommandDeps): Command {
  return {
    name: "tools",
    usage: "[history [number]]",
    help: "Which tools there are for you here; your own last tool calls and how they ended",
    roles: MEMBERS,
    async run(args, context, signal) {
      if (args === "") return deps.list(context, signal);
      const asked = HISTORY.exec(args);
      if (!asked) return USAGE;
      // parameters may be private, and a group reads along
      if (context.message.scope !== "dm") return "Your tool calls are shown in a direct chat only.";
      const limit = Math.min(Math.max(Number(asked[1] ?? DEFAULT_SHOWN), 1), MAX_SHOWN);
      const { principal } = context.message.sender;
      const { items, next } = await deps.toolCalls.list({ principal }, { limit });
      if (items.length === 0) return "No tool call of yours is on record.";
      const more =
        next !== undefined && limit < MAX_SHOWN ? `\n\nThere are more: \`/tools history ${MAX_SHOWN}\`.` : "";
      return `${bullets(items.map(line))}${more}`;
    },
  };
}

function line({ tool, status, createdAt, executionTimeMs, input }: AuditRow): string {
  const at = new Date(createdAt).toISOString().slice(0, 16).replace("T", " ");
  const took = executionTimeMs === null ? "" : `, ${executionTimeMs} ms`;
  const shown = oneLine(JSON.stringify(input) ?? "");
  const cut = shown.length > MAX_INPUT_CHARS ? `${shown.slice(0, MAX_INPUT_CHARS).toWellFormed()}…` : shown;
  return `${at} UTC \`${tool}\`: ${status}${took}, with ${cut}`;
}
