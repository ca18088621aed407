/** A conversation whose agent has lost its memory of it: the model is told what the chat shows, and the person is told that this happened. */
import type { StartedOver } from "../../contracts/agent.ts";
import type { TranscriptItem } from "../../contracts/chat.ts";
import type { Batch } from "../../contracts/queue.ts";
import type { SessionStore } from "../../contracts/store.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { wrapUntrusted } from "../../kit/marks/untrusted.ts";
import type { EndWithoutSize } from "../ending/turn-ending.ts";

interface HistoryDeps {
  readonly ids: Ids;
  readonly history: Pick<SessionStore, "transcript">;
}

/** For the prompt: a line of facts, and the words themselves in a block that cannot be mistaken for them. */
interface History {
  readonly lines: readonly string[];
  readonly blocks: readonly string[];
}

const NO_HISTORY: History = { lines: [], blocks: [] };
const MAX_ITEMS = 60;
const MAX_CHARS = 16_000;
const MAX_MESSAGE_CHARS = 4_000;
const NOTICE =
  "The assistant's own record of this conversation was damaged or lost. It went on from the messages of this chat; details beyond them are forgotten.";
const LINE =
  "history: your own record of this conversation was lost; what was said before is in a block of its own below, oldest first. Go on from there";

export function logStartedOver(log: Log, { turnId, sessionKey, sessionFile }: Batch, startedOver?: StartedOver): void {
  if (!startedOver) return;
  const { because, kept } = startedOver;
  const fields = { file: sessionFile.name, kept, turnId, sessionKey };
  log.error(`the session file ${because}; the conversation goes on from the transcript`, fields);
}

export async function historyFor(
  { history, ids }: HistoryDeps,
  batch: Pick<Batch, "sessionKey" | "turnId">,
  startedOver: StartedOver | undefined,
): Promise<History> {
  if (!startedOver) return NO_HISTORY;
  const { items } = await history.transcript(batch.sessionKey, { limit: MAX_ITEMS });
  const text = conversationOf(items.filter(({ turnId }) => turnId !== null && turnId !== batch.turnId));
  if (text === "") return NO_HISTORY;
  return { lines: [LINE], blocks: [wrapUntrusted(ids, { source: "earlier in this conversation", text })] };
}

/** The newest messages that fit, oldest first. Tool calls and notices of the gateway are left out. */
export function conversationOf(items: readonly TranscriptItem[]): string {
  const kept: string[] = [];
  let room = MAX_CHARS;
  for (const item of items.toReversed()) {
    if (item.role === "tool" || item.kind === "notice" || item.deleted || item.text.trim() === "") continue;
    const line = `${item.role === "user" ? "person" : "you"}: ${shortened(item.text)}`;
    room -= line.length;
    if (room < 0) break;
    kept.push(line);
  }
  return kept.toReversed().join("\n\n");
}

function shortened(text: string): string {
  if (text.length <= MAX_MESSAGE_CHARS) return text;
  return `${text.slice(0, MAX_MESSAGE_CHARS).toWellFormed()} … (shortened)`;
}

/** The same end, and a notice for the person after whatever else is shown. */
export function withStartedOver<E extends Pick<EndWithoutSize, "reply">>(
  end: E,
  startedOver: StartedOver | undefined,
): E {
  if (!startedOver) return end;
  const part = end.reply.length;
  return { ...end, reply: [...end.reply, { part, message: { kind: "notice", text: NOTICE } }] };
}
