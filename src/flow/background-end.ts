/** A tool that went on after its turn has ended: the conversation that started it hears of it as a message of the gateway's own. */
import type { InboundMessage } from "../contracts/chat.ts";
import type { BackgroundEnd } from "../tools/index.ts";

const MAX_OUTPUT_CHARS = 4_000;

/** The id is that of the call, so that it is said once, whatever happens in between. */
export function backgroundEndMessage(end: BackgroundEnd, scope: "dm" | "group", at: number): InboundMessage {
  const { caller, tool, outcome, id } = end;
  const text =
    outcome.kind === "ok"
      ? outcome.result.content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n")
      : outcome.message;
  const how = outcome.kind === "ok" ? "has finished" : "has failed";
  return {
    eventId: `background:${id}`,
    fingerprint: id,
    address: caller.origin,
    scope,
    sender: { principal: caller.principal, name: "Gateway" },
    text: `[system event: ${tool}, which went on in the background, ${how}]\n${text.slice(0, MAX_OUTPUT_CHARS)}`,
    attachments: [],
    mentioned: true,
    agentId: caller.agentId,
    receivedAt: at,
  };
}
