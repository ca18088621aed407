/** `/tool`: a person calls a tool without asking the model for it, by the same gate, with the same rights, and with a row of its own. */
import type { Command, CommandContext, LastStats } from "../contracts/command.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { ToolContext, ToolGate, ToolOutcome, ToolResult, ToolSpec } from "../contracts/tools/tool.ts";
import { parseJson } from "../kit/json.ts";
import { bullets, oneLine } from "./replies.ts";
import { MEMBERS } from "./roles.ts";

export interface ToolCommandDeps {
  readonly tools: Pick<ToolGate, "specs" | "call" | "recordRejected">;
  readonly stats: Pick<LastStats, "of">;
}

const ASKED = /^(\S+)(?:\s+([^]*))?$/;
const JSON_LIMITS = { maxChars: 1024 * 1024, maxDepth: 64 };
const MAX_LISTED = 50;
/** A page of a chat; the record has all of it. */
export const MAX_ANSWER_CHARS = 4_000;
const USAGE = '`/tool NAME {"key": "value"}` calls one; what it takes stands in curly brackets, in straight quotes.';

export function toolCommand(deps: ToolCommandDeps): Command {
  return {
    name: "tool",
    usage: "[name] [{json}]",
    help: "Call a tool yourself; without a name, which there are for you here",
    roles: MEMBERS,
    run: (args, context, signal) => answer(deps, args, context, signal),
    refused: (args, context, because) => recordRefused(deps, args, context, because),
  };
}

/** A guest who tries to call a tool is on record like anybody else who is refused one. */
function recordRefused(deps: ToolCommandDeps, args: string, asked: CommandContext, because: string): void {
  const [, tool = "", json = ""] = ASKED.exec(args) ?? [];
  if (tool === "") return;
  const call = { tool, callId: callIdOf(asked), params: excerptOf(json), context: contextOf(deps, asked) };
  deps.tools.recordRejected({ ...call, path: "command", reason: "unauthorized", because });
}

async function answer(
  deps: ToolCommandDeps,
  args: string,
  asked: CommandContext,
  signal: AbortSignal,
): Promise<string> {
  const context = contextOf(deps, asked);
  const [, tool = "", json = ""] = ASKED.exec(args) ?? [];
  if (tool === "") return listText(deps.tools.specs(context));
  const callId = callIdOf(asked);
  const parsed = parseJson(json.trim() || "{}", JSON_LIMITS);
  if (!parsed.ok) {
    const because = `What stands after ${tool.slice(0, MAX_NAME_CHARS)} is not JSON${WHY[parsed.because]}. Nothing was run.`;
    const params = excerptOf(json);
    deps.tools.recordRejected({ tool, callId, params, path: "command", context, reason: "unreadable", because });
    return `${because}\n${USAGE}`;
  }
  const request = { tool, callId, params: parsed.value, path: "command", context } as const;
  const outcome = await deps.tools.call(request, signal);
  if (outcome.kind === "failed" && outcome.code === "cancelled") signal.throwIfAborted(); // a stopped turn says so itself
  return outcomeText(outcome);
}

const MAX_NAME_CHARS = 64;
const MAX_KEPT_CHARS = 500;
const WHY = { not_json: "", too_large: ", or too long", too_deep: ", or too deeply nested" } as const;

/** Run again after a crash it is the same call. */
function callIdOf({ turnId }: CommandContext): string {
  return `command-${turnId}`;
}

/** Of what nobody reads. */
function excerptOf(json: string): object {
  return { chars: json.length, begins: json.slice(0, MAX_KEPT_CHARS) };
}

/** For whom it acts: whoever wrote the command, in the conversation where it was written. */
function contextOf({ stats }: ToolCommandDeps, asked: CommandContext): ToolContext {
  const { sessionKey, turnId, agentId, role, message, sessionFile } = asked;
  return {
    sessionKey,
    turnId,
    agentId,
    role,
    principal: message.sender.principal,
    origin: message.address,
    scope: message.scope,
    ...(message.place === undefined ? {} : { place: message.place }),
    ...(message.origin ? { cause: message.origin } : {}),
    async stats() {
      const known = stats.of(sessionFile);
      if (known) return known;
      throw new GatewayError("bad_request", "no agent is calling", {
        say: "What this conversation uses is known after the next answer.",
      });
    },
  };
}

function listText(specs: readonly ToolSpec[]): string {
  if (specs.length === 0) return "There is no tool for you here.";
  const lines = specs.slice(0, MAX_LISTED).map(({ name, description }) => `\`${name}\`: ${oneLine(description)}`);
  const more = specs.length > MAX_LISTED ? `\n\nThere are ${specs.length - MAX_LISTED} more.` : "";
  return `${bullets(lines)}${more}\n\n${USAGE}`;
}

function outcomeText(outcome: ToolOutcome): string {
  if (outcome.kind === "ok") return cut(textOf(outcome.result));
  return cut(outcome.message);
}

function textOf({ content }: ToolResult): string {
  const said = content.map((block) => (block.type === "text" ? block.text : `(a picture, ${block.mimeType})`));
  return said.join("\n").trim() || "Done. The tool had nothing to say.";
}

function cut(text: string): string {
  if (text.length <= MAX_ANSWER_CHARS) return text;
  const left = text.length - MAX_ANSWER_CHARS;
  return `${text.slice(0, MAX_ANSWER_CHARS).toWellFormed()}\n… (${left} more characters; the record of tool calls has them)`;
}
