/** Sends the messages of a turn again, one of them with other words if wanted, from the point where they were sent first. */
import type { TranscriptItem } from "../../contracts/chat.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Identity } from "../access/auth.ts";
import type { HttpDeps, MessageLimits } from "../types.ts";
import { acceptMessage, MAX_ATTACHMENTS, ownSession, type Taken } from "./accept-message.ts";

interface Resend {
  readonly session: string;
  /** A message, or the reply to it. */
  readonly message: string;
  /** Other words for the message; absent: as it was. */
  readonly text?: string | undefined;
  readonly by: Pick<Identity, "principal" | "key">;
}

type ResendDeps = Pick<HttpDeps, "clock" | "ids" | "store" | "messages">;

/** Everything that can be refused is refused before the session goes back: afterwards the message exists nowhere else. */
export async function resendMessage(
  deps: ResendDeps,
  limits: MessageLimits,
  { session, message, text, by }: Resend,
  signal: AbortSignal,
): Promise<Taken> {
  const { sessionKey } = ownSession(deps, { session }, by);
  const place = await deps.store.sessions.branches.place(sessionKey, message);
  const before = place?.said ?? [];
  if (place && before.length === 0)
    throw new GatewayError("conflict", "nobody asked", { say: "Nobody sent this, so it cannot be sent again." });
  if (text !== undefined && !before.some(({ id }) => id === message))
    throw new GatewayError("invalid_params", "no such own message", {
      say: "Other words can be given for a message of a person that is part of this conversation.",
    });
  const words = wordsOf(before, message, text);
  const attachments = before.flatMap((item) => item.attachments ?? []).slice(0, MAX_ATTACHMENTS);
  if (words.trim() === "" && attachments.length === 0) throw new GatewayError("empty_message", "empty");
  if (words.length > limits.maxMessageChars) throw new GatewayError("too_large", "message too long");
  await deps.messages.care.rewind(sessionKey, message, signal);
  const draft = {
    session: sessionKey,
    eventId: `resend:${deps.ids.next("again")}`,
    text: words,
    attachments: attachments.map(({ mediaId }) => ({ mediaId })),
    by,
  };
  return acceptMessage(deps, limits, draft, signal);
}

/** A turn may have answered several messages; they go on as one. */
function wordsOf(said: readonly TranscriptItem[], changed: string, text: string | undefined): string {
  const words = said.map((item) => (text !== undefined && item.id === changed ? text : item.text));
  return words.filter((one) => one.trim() !== "").join("\n\n");
}
