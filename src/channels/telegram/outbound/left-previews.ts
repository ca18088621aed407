/** How a preview on Telegram is noted, so that its reply or whoever takes it away finds it after a restart. */
import type { TurnId } from "../../../contracts/ids.ts";
import { previewKey, type PreviewRemoval } from "../../kit/index.ts";
import { Fault } from "../api/faults.ts";
import type { LiveDeps } from "./live.ts";

/** Noted before a preview is sent: from now on it may be shown, and nobody knows where. */
export const BEGUN = "begun";
/** Added when a reply begins to be written into it: from then on it may be one, and is no preview any more. */
export const TAKEN = "@taken";

const START_MS = 30_000;
const AGAIN_MS = 120_000;
const MAX_TRIES = 15;

interface NotedPreview {
  readonly taken: boolean;
  /** Null: it may be shown, and nobody knows where. */
  readonly shown: { readonly messageId: string; readonly chat: string } | null;
}

export function previewRemoval(deps: LiveDeps): PreviewRemoval<NotedPreview> {
  return {
    startMs: START_MS,
    againMs: AGAIN_MS,
    maxTries: MAX_TRIES,
    read: async (turnId) => readNote(await deps.facts.get(previewKey(turnId))),
    owes({ shown }) {
      if (shown === null) return false;
      return deps.owes({ channel: "telegram", account: deps.account, chat: deps.moved.first(shown.chat) });
    },
    async remove({ shown }, turnId, signal) {
      if (shown === null) return previewInDoubt(deps, turnId);
      const message = { chat_id: shown.chat, message_id: Number(shown.messageId) };
      await deps.api.call("deleteMessage", message, signal);
    },
    isFinal: (error) => error instanceof Fault && error.info.kind === "refused",
  };
}

function readNote(note: string | null): NotedPreview | null {
  if (note === null) return null;
  const [messageId = "", chat] = note.split("@");
  const shown = note === BEGUN || chat === undefined ? null : { messageId, chat };
  return { taken: note.endsWith(TAKEN), shown };
}

/** Another one would make it two. The reply says so to the operator. */
export function previewInDoubt({ log }: Pick<LiveDeps, "log">, turnId: TurnId): void {
  log.warn("preview in doubt: it may be shown without an end", { turnId });
}
