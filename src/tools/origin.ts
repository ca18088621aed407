/** Where a call has its beginning, read from what routing and the gateway decided; nothing the call itself says counts. */
import type { Caller } from "../contracts/agent.ts";
import { NO_TURN, type ToolOrigin } from "../contracts/tools/tool.ts";

const BY_KIND: Readonly<Record<string, ToolOrigin>> = { cron: "cron", hook: "webhook", heartbeat: "heartbeat" };
const BY_CHANNEL: Readonly<Record<string, ToolOrigin>> = {
  cron: "cron",
  hook: "webhook",
  heartbeat: "heartbeat",
  delegate: "delegate",
  mcp: "mcp",
};

/** Its own, and that of every turn that led to it: what one of them may not do, it does not get done by asking somebody else. */
export function originsOf({ askedBy, ...caller }: Begun & Pick<Caller, "askedBy">): readonly ToolOrigin[] {
  return [...new Set([originOf(caller), ...(askedBy ? originsOf(askedBy) : [])])];
}

type Begun = Pick<Caller, "turnId" | "origin" | "sessionKey" | "cause">;

/** A turn that a program asked for over `POST /api/chat` is a chat like any other. */
export function originOf({ turnId, origin, sessionKey, cause }: Begun): ToolOrigin {
  if (cause !== undefined && cause !== "chat" && cause !== "reaction") return cause; // a person who reacts is there
  const byChannel = Object.hasOwn(BY_CHANNEL, origin.channel) ? BY_CHANNEL[origin.channel] : undefined;
  if (byChannel) return byChannel;
  if (turnId === NO_TURN) return "api";
  const parts = sessionKey.split(":"); // agent:{id}:{channel}[:{account}]:{dm|group}:{peer}[:topic:{thread}]
  const kind = parts[2] ?? "";
  const byKind = Object.hasOwn(BY_KIND, kind) ? BY_KIND[kind] : undefined;
  if (byKind) return byKind;
  const hasAccount = parts.length > 4 && parts.length % 2 === 0;
  return parts[hasAccount ? 4 : 3] === "group" && parts.length > 4 ? "group" : "chat";
}
