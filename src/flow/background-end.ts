/** The end of a tool that went on after its turn: news for the session that started it, which is woken to hear it. */
import type { SystemEvents } from "../contracts/automation/system-event.ts";
import type { SessionChat, SessionChats } from "../contracts/channels/session-chats.ts";
import type { AgentId, Principal, Role } from "../contracts/ids.ts";
import type { Log } from "../kit/log.ts";
import type { SecretMask } from "../kit/secret.ts";
import { type BackgroundEnd, originOf } from "../tools/index.ts";

export interface BackgroundEndDeps {
  readonly log: Log;
  readonly mask: Pick<SecretMask, "cut">;
  readonly sessionChats: Pick<SessionChats, "at">;
  readonly systemEvents: SystemEvents;
  /** The role of this person in this chat now; null: access is lost. */
  roleOf(
    holder: { readonly createdBy: Principal; readonly role: Role; readonly agentId: AgentId },
    chat: SessionChat,
  ): Role | null;
}

const MAX_OUTPUT_CHARS = 4_000;

/** Never rejects. A program that called the tool from outside of chats asks for its end again, with the same call id. */
export async function reportBackgroundEnd(deps: BackgroundEndDeps, end: BackgroundEnd): Promise<void> {
  const { id, tool, caller } = end;
  const { sessionKey, principal, agentId } = caller;
  const origin = originOf(caller);
  if (origin === "api" || origin === "mcp") return;
  try {
    const chat = await deps.sessionChats.at(sessionKey);
    // a person without access wakes nobody; the result is then part of the next turn, if there is one
    const role = chat && deps.roleOf({ createdBy: principal, role: caller.role, agentId }, chat);
    const wake = role ? { wake: { principal, role, text: `(${tool} has something for this conversation.)` } } : {};
    const { real, kept } = backgroundEndText(deps, end);
    const text = { text: kept, ...(real === kept ? {} : { real }) };
    await deps.systemEvents.put({ id: `tool:${id}`, sessionKey, source: `tool ${tool}`, kind: "news", ...text }, wake);
  } catch (error) {
    deps.log.warn("could not report background tool completion", { tool, toolCallId: id, error });
  }
}

/** `kept`: what is written down, where a plugin wants that to be another text. */
function backgroundEndText(
  { mask }: Pick<BackgroundEndDeps, "mask">,
  { tool, outcome }: Pick<BackgroundEnd, "tool" | "outcome">,
): { readonly real: string; readonly kept: string } {
  const how = outcome.kind === "ok" ? "has finished" : "has failed";
  const sentence = (text: string): string =>
    `${tool}, which went on in the background, ${how}.\n${mask.cut(text, MAX_OUTPUT_CHARS)}`;
  const text =
    outcome.kind === "ok"
      ? outcome.result.content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n")
      : outcome.message;
  return { real: sentence(text), kept: sentence(outcome.kept ?? text) };
}
