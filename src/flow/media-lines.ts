/** Files in a reply: a line `MEDIA:<path>` of its own sends that file with it, under the same path policy as the tool `send_media`. */
import type { MediaRef } from "../contracts/chat.ts";
import type { ReplyPart } from "../contracts/delivery.ts";
import type { AgentId, Principal, Role, SessionKey } from "../contracts/ids.ts";
import type { OutgoingFiles } from "../contracts/media/files.ts";

export const MAX_MEDIA_LINES = 10;
const LINE = /^MEDIA:[ \t]*(\S.*?)[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const WRAPPED = /^([`"'])(.+)\1$/;

export interface SplitReply {
  /** The reply without those lines. */
  readonly text: string;
  readonly paths: readonly string[];
}

/** Inside a code block such a line is an example, and stays. */
export function splitMediaLines(text: string): SplitReply {
  const kept: string[] = [];
  const paths: string[] = [];
  let fence = "";
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line)?.[1] ?? "";
    if (fence === "") fence = mark;
    else if (mark.startsWith(fence)) fence = "";
    const path = fence === "" ? LINE.exec(line)?.[1] : undefined;
    if (path === undefined) kept.push(line);
    else paths.push(WRAPPED.exec(path)?.[2] ?? path);
  }
  if (paths.length === 0) return { text, paths };
  return {
    text: kept
      .join("\n")
      .replaceAll(/\n{3,}/g, "\n\n")
      .trim(),
    paths,
  };
}

export interface Sender {
  readonly agentId: AgentId;
  readonly role: Role;
  readonly owner: Principal;
  readonly sessionKey: SessionKey;
}

/** What the agent said, with its files attached. A file that cannot be sent is said to be missing, not passed over in silence. */
export async function attachMedia(
  files: OutgoingFiles | undefined,
  reply: readonly ReplyPart[],
  sender: Sender,
  signal: AbortSignal,
): Promise<readonly ReplyPart[]> {
  if (!files) return reply;
  return Promise.all(
    reply.map(async (part) => {
      const { text, paths } = splitMediaLines(part.message.text);
      if (part.message.kind !== "reply" || paths.length === 0) return part;
      const { attachments, missing } = await take(files, paths, sender, signal);
      const said = [text, ...missing].filter((piece) => piece !== "").join("\n\n");
      return { ...part, message: { ...part.message, text: said, ...(attachments.length > 0 ? { attachments } : {}) } };
    }),
  );
}

async function take(files: OutgoingFiles, paths: readonly string[], sender: Sender, signal: AbortSignal) {
  const attachments: MediaRef[] = [];
  const missing: string[] = [];
  for (const path of paths.slice(0, MAX_MEDIA_LINES)) {
    const taken = await files.take({ ...sender, path }, signal);
    if (taken.kind === "taken") attachments.push(taken.media);
    else missing.push(`_(A file was not sent. ${taken.because})_`);
  }
  const more = paths.length - MAX_MEDIA_LINES;
  if (more > 0) missing.push(`_(${more} more files were not sent: one reply carries ${MAX_MEDIA_LINES}.)_`);
  return { attachments, missing };
}
