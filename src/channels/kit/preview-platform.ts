/** What is different about previews on each platform. */
import type { ChatAddress } from "../../contracts/chat.ts";
import type { TurnId } from "../../contracts/ids.ts";
import type { PreviewNote } from "./preview-notes.ts";
import type { StreamMode, TurnView } from "./turn-views.ts";

/** Where a turn is shown. */
export interface PreviewSpot {
  readonly to: ChatAddress;
  /** In a group the preview replies to this message, because it becomes the answer. */
  readonly replyTo: string | null;
}

export type PreviewFailure =
  /** The message says that already. */
  | { readonly kind: "unchanged" }
  /** The message is not there any more; another may be sent. */
  | { readonly kind: "gone" }
  /** It would be refused again. */
  | { readonly kind: "refused" }
  /** It may have happened or not. */
  | { readonly kind: "lost" }
  /** It did not happen, and may be tried again after this pause. */
  | { readonly kind: "later"; readonly pauseMs: number };

/** `Content`: what one message shows. */
export interface PreviewPlatform<Content> {
  /** A short answer needs no preview. */
  readonly firstMs: number;
  readonly typingMs: number;
  gapMs(spot: PreviewSpot): number;
  readonly removal: PreviewRemoval;
  /** For a platform that recognises a send that is repeated for the same turn; it sends no second message after the first was deleted. */
  readonly repeat: RepeatedSend | null;
  /** Null: there is nothing worth showing yet. */
  contentOf(view: TurnView, mode: StreamMode): Content | null;
  /** Two messages with the same key look the same. */
  keyOf(content: Content): string;
  /** What the platform calls this chat now. A message has no number where its chat is called something else. */
  where(to: ChatAddress): string;
  /** How long nothing may be shown in this chat. */
  cooldownMs(to: ChatAddress): number;
  send(turnId: TurnId, spot: PreviewSpot, content: Content, signal: AbortSignal): Promise<string>;
  edit(message: ShownMessage, content: Content, signal: AbortSignal): Promise<void>;
  remove(message: ShownMessage, signal: AbortSignal): Promise<void>;
  type(to: ChatAddress, signal: AbortSignal): Promise<void>;
  failureOf(error: unknown, to: ChatAddress): PreviewFailure;
}

interface ShownMessage {
  readonly where: string;
  readonly message: string;
}

interface RepeatedSend {
  /** For how long after the first send. */
  readonly dedupeMs: number;
  /** Which message was sent for this turn; null: none is there. */
  find(turnId: TurnId, where: string, signal: AbortSignal): Promise<string | null>;
}

interface PreviewRemoval {
  /** How long after a start it is waited: whatever is sent or tried again has begun by then. */
  readonly startMs: number;
  /** How long after the end of its turn, and between two tries. */
  readonly againMs: number;
  readonly maxTries: number;
}

/** It may be shown, and nothing tells any more which message it is. */
export function isInDoubt(
  { repeat }: Pick<PreviewPlatform<unknown>, "repeat">,
  { message, begunAt }: PreviewNote,
  now: number,
): boolean {
  return message === null && (repeat === null || now - begunAt > repeat.dedupeMs);
}
