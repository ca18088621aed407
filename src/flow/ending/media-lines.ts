/**
 * Files in a reply: a line `MEDIA:<path>` of its own is a call of `send_media`, with the same policy, approval, hooks and audit row. A file
 * that is allowed at once goes with the reply. The reply does not wait for an approval: it says that the file may follow.
 */
import type { Caller } from "../../contracts/agent.ts";
import type { MediaRef } from "../../contracts/chat.ts";
import type { ReplyPart } from "../../contracts/delivery.ts";
import type { ChatPoster } from "../../contracts/store/posts.ts";
import type { ToolGate, ToolOutcome, ToolRequest } from "../../contracts/tools/tool.ts";
import type { Log } from "../../kit/log.ts";

export const MAX_MEDIA_LINES = 10;
const LINE = /^MEDIA:[ \t]*(\S.*?)[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const WRAPPED = /^([`"'])(.+)\1$/;

interface SplitReply {
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

export interface MediaLineDeps {
  readonly log: Log;
  readonly tools: Pick<ToolGate, "call">;
  readonly poster: ChatPoster;
}

/** The reply without its media lines and with their files. Whatever is not sent is replaced by a sentence. Call it once for each turn. */
export async function sendMediaLines(
  deps: MediaLineDeps,
  reply: readonly ReplyPart[],
  caller: Caller,
  signal: AbortSignal,
): Promise<readonly ReplyPart[]> {
  return Promise.all(
    reply.map(async (part) => {
      const { text, paths } = splitMediaLines(part.message.text);
      if (part.message.kind !== "reply" || paths.length === 0) return part;
      const { attachments, sentences } = await callAll(deps, { part: part.part, paths }, caller, signal);
      const said = [text, ...sentences].filter((piece) => piece !== "").join("\n\n");
      return { ...part, message: { ...part.message, text: said, ...(attachments.length > 0 ? { attachments } : {}) } };
    }),
  );
}

async function callAll(
  deps: MediaLineDeps,
  { part, paths }: { readonly part: number; readonly paths: readonly string[] },
  caller: Caller,
  signal: AbortSignal,
) {
  const attachments: MediaRef[] = [];
  const sentences: string[] = [];
  let isOpen = true;
  const attach = (media: MediaRef): boolean => {
    if (isOpen) attachments.push(media);
    return isOpen;
  };
  for (const [at, path] of paths.slice(0, MAX_MEDIA_LINES).entries()) {
    const request: ToolRequest = {
      tool: "send_media",
      callId: `gateway:reply:${part}:${at}`, // of its own: models number their calls as they like
      params: { path },
      path: "reply",
      context: { ...caller, attach, stats: () => Promise.reject(new Error("the turn has ended")) },
    };
    const outcome = await deps.tools.call(request, signal);
    if (outcome.kind === "pending") {
      sentences.push(`_(${nameOf(path)} waits for the owner's approval and follows when it is given, otherwise not.)_`);
      void follow(deps, request, signal);
    } else if (outcome.kind !== "ok") sentences.push(`_(A file was not sent. ${whyNot(outcome)})_`);
  }
  isOpen = false; // from here on the reply is as it is; what is allowed later is a message of its own
  const more = paths.length - MAX_MEDIA_LINES;
  if (more > 0) sentences.push(`_(${more} more files were not sent: one reply carries ${MAX_MEDIA_LINES}.)_`);
  return { attachments, sentences };
}

/** Waits for the owner's answer. The file is sent by the tool itself; that it is not is said in the chat. Never rejects. */
async function follow(deps: MediaLineDeps, request: ToolRequest, signal: AbortSignal): Promise<void> {
  const { context, callId, params } = request;
  try {
    // joins the call that waits: `command` is a path that waits as long as that takes
    const outcome = await deps.tools.call({ ...request, path: "command" }, signal);
    if (outcome.kind === "ok" || outcome.kind === "pending" || signal.aborted) return;
    const text = `${nameOf((params as { path: string }).path)} was not sent. ${whyNot(outcome)}`;
    const { turnId, sessionKey, origin: to } = context;
    await deps.poster.post({ turnId, sessionKey, to, onceKey: `${callId}:end`, message: { kind: "notice", text } });
  } catch (error) {
    deps.log.warn("end of a file that waited for approval not told", { turnId: context.turnId, error });
  }
}

/** Outcomes are phrased for models; this is for people. What the tool itself said about the file is for both. */
function whyNot(outcome: Exclude<ToolOutcome, { kind: "ok" | "pending" }>): string {
  switch (outcome.code) {
    case "tool_failed":
      return outcome.message.replace(/^The file was not sent\. /, "");
    case "approval_denied":
      return "The owner did not allow it.";
    case "not_allowed":
    case "unknown_tool":
      return "Sending files is not allowed here.";
    case "rate_limited":
      return "Too many files were sent in a short time.";
    case "invalid_params":
      return "Its path cannot be used.";
    case "tool_timeout":
    case "cancelled":
      return "It was interrupted.";
    default:
      return "Nobody knows whether it was sent before.";
  }
}

const MAX_NAME_CHARS = 100;

function nameOf(path: string): string {
  return (path.split("/").at(-1) || "A file").slice(0, MAX_NAME_CHARS).toWellFormed();
}
