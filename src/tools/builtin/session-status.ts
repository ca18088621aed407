/** `session_status`: what the agent may know about the conversation it is in. Only an owner may ask about another one. */
import { Type } from "typebox";
import type { SessionKey } from "../../contracts/ids.ts";
import type { Tool } from "../../contracts/tools/tool.ts";
import { closed, defineTool, MINUTE_MS } from "./define.ts";

export interface SessionStatusDeps {
  /** What is on record about a session; null: there is none under that key. */
  recorded(sessionKey: SessionKey): Promise<SessionReport | null>;
}

export interface SessionReport {
  readonly model: string;
  readonly messages: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  /** Null: only an agent that has it open could say. */
  readonly contextPercent: number | null;
  readonly contextWindow: number | null;
  /** It is being answered right now. */
  readonly streaming: boolean;
}

export function sessionStatus(deps: SessionStatusDeps): Tool {
  return defineTool({
    name: "session_status",
    label: "Session status",
    description: "Reports a conversation's model, context use, tokens, cost and number of messages. Default: this one.",
    parameters: Type.Object(
      {
        sessionKey: Type.Optional(
          Type.String({ minLength: 1, maxLength: 512, description: "Another session; owners only" }),
        ),
      },
      closed,
    ),
    flags: { idempotent: true, inConversation: true },
    limit: { calls: 60, perMs: MINUTE_MS },
    timeoutMs: 10_000,
    async run({ sessionKey = "" }, { context, signal }) {
      const own = sessionKey === "" || sessionKey === context.sessionKey;
      if (!own && context.role !== "owner")
        throw new Error("Only this conversation can be asked about. Leave sessionKey out.");
      const key = own ? context.sessionKey : (sessionKey as SessionKey);
      const report = own ? { ...(await context.stats(signal)), streaming: true } : await deps.recorded(key);
      if (!report) throw new Error("There is no such session.");
      return { content: [{ type: "text", text: describe(report) }], details: { ...report, sessionKey: key } };
    },
  });
}

function describe(report: SessionReport): string {
  return [
    `Model: ${report.model}`,
    `Context: ${contextUse(report)}`,
    `Tokens: ${thousands(report.inputTokens)} in / ${thousands(report.outputTokens)} out`,
    `Cost: $${report.costUsd.toFixed(4)}`,
    `Messages: ${report.messages}`,
    `Streaming: ${report.streaming}`,
  ].join("\n");
}

function contextUse({ contextPercent, contextWindow }: SessionReport): string {
  if (contextPercent === null) return "not known yet";
  const percent = `${contextPercent.toFixed(1)}%`;
  if (contextWindow === null) return percent;
  return `${percent} (${thousands((contextPercent / 100) * contextWindow)}/${thousands(contextWindow)})`;
}

/** 85k, 12.3k, 640. */
function thousands(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  return `${(count / 1_000).toFixed(1).replace(/\.0$/, "")}k`;
}
