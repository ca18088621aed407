/** `send_media`: a file of the agent's workspace, or of an open folder, to the chat the agent is talking in. Opens nothing itself. */
import { Type } from "typebox";
import type { OutgoingFiles } from "../../../contracts/agent-files.ts";
import type { Tool } from "../../../contracts/tools/tool.ts";
import { answer, closed, defineTool, MINUTE_MS } from "../define.ts";
import { type PostDeps, postToOwnChat } from "./posting.ts";

export interface SendMediaDeps extends PostDeps {
  readonly files: OutgoingFiles;
}

const MAX_PATH_CHARS = 4_096;
const MAX_CAPTION_CHARS = 4_000;

export function sendMedia(deps: SendMediaDeps): Tool {
  const kinds = (["photo", "audio", "document", "video"] as const).map((kind) => Type.Literal(kind));
  return defineTool({
    name: "send_media",
    label: "Send file",
    description:
      "Sends a file (picture, audio, video, document) to the current chat. SVG is sent as a document; convert it to PNG to have it shown.",
    parameters: Type.Object(
      {
        path: Type.String({
          minLength: 1,
          maxLength: MAX_PATH_CHARS,
          description:
            "File path: relative to the workspace (./output.png), or absolute in a folder that is open for sending",
        }),
        caption: Type.Optional(Type.String({ maxLength: MAX_CAPTION_CHARS, description: "Text sent with the file" })),
        type: Type.Optional(
          Type.Union(kinds, { description: "How to show it; left out, the content of the file decides" }),
        ),
      },
      closed,
    ),
    flags: { idempotent: false, sequential: true, inConversation: true },
    limit: { calls: 20, perMs: MINUTE_MS },
    timeoutMs: 30_000,
    async run({ path, caption = "", type }, call) {
      const { agentId, role, principal: owner, sessionKey } = call.context;
      const wanted = { path, agentId, role, owner, sessionKey, ...(type === undefined ? {} : { as: type }) };
      const taken = await deps.files.take(wanted, call.signal);
      if (taken.kind === "refused") throw new Error(`The file was not sent. ${taken.because}`);
      const { media } = taken;
      const about = { sent: true, name: media.name, type: media.mimeType, bytes: media.bytes };
      if (call.context.attach?.(media)) return answer({ ...about, with: "reply" });
      const message = { text: caption.toWellFormed(), kind: "reply", attachments: [media] } as const;
      const id = await postToOwnChat(deps, message, [path, caption], call);
      return answer({ message_id: id, ...about });
    },
  });
}
