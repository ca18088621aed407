/** `send_message`: one more message to the chat the agent is talking in, besides its reply. There is no way to name another chat. */
import { Type } from "typebox";
import type { OutboundMessage } from "../../../contracts/chat.ts";
import type { Tool } from "../../../contracts/tools/tool.ts";
import { answer, closed, defineTool, MINUTE_MS, type ToolCall } from "../define.ts";
import type { ChatMessages } from "../../../contracts/channels/chat-messages.ts";
import { type PostDeps, postToOwnChat } from "./posting.ts";

export interface SendMessageDeps extends PostDeps {
  readonly messages: Pick<ChatMessages, "find">;
}

const MAX_TEXT_CHARS = 16_000;
const MAX_ID_CHARS = 200;
const FORMATS = { Markdown: "markdown", HTML: "html", plain: "plain" } as const satisfies Record<
  string,
  NonNullable<OutboundMessage["format"]>
>;

export function sendMessage(deps: SendMessageDeps): Tool {
  return defineTool({
    name: "send_message",
    label: "Send message",
    description:
      "Sends a text message to the current chat besides the normal reply, for example before a long task. The reply itself needs no tool.",
    parameters: Type.Object(
      {
        text: Type.String({ minLength: 1, maxLength: MAX_TEXT_CHARS, description: "Message text" }),
        replyTo: Type.Optional(
          Type.String({ minLength: 1, maxLength: MAX_ID_CHARS, description: "Id of the message this one answers" }),
        ),
        parseMode: Type.Optional(
          Type.Union([Type.Literal("Markdown"), Type.Literal("HTML"), Type.Literal("plain")], {
            description: "How the text is written; left out, as the channel usually reads it",
          }),
        ),
      },
      closed,
    ),
    flags: { idempotent: false, sequential: true, inConversation: true },
    limit: { calls: 30, perMs: MINUTE_MS },
    timeoutMs: 10_000,
    async run({ text, replyTo, parseMode }, call) {
      if (text.trim() === "") throw new Error("The text is empty. Say something, or send nothing.");
      const answered = replyTo === undefined ? null : await answeredId(deps, replyTo, call);
      const message: OutboundMessage = {
        text: text.toWellFormed(),
        kind: "reply",
        ...(answered === null ? {} : { replyTo: answered }),
        ...(parseMode === undefined ? {} : { format: FORMATS[parseMode] }),
      };
      return answer({ message_id: await postToOwnChat(deps, message, [text, replyTo ?? null], call), sent: true });
    },
  });
}

async function answeredId({ messages }: SendMessageDeps, replyTo: string, { context }: ToolCall): Promise<string> {
  const found = await messages.find({ to: context.origin, sessionKey: context.sessionKey }, replyTo);
  if (found !== null) return found;
  throw new Error(
    "Nothing was sent: there is no message with that id in this chat. The tool message tells the ids (read).",
  );
}
