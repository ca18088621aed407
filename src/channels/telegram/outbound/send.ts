/**
 * Sends a stored reply part: its messages one after the other, the first one into the preview if there is one. After each it writes down how
 * far it came, so that after a crash or a limit it goes on with the next one and repeats at most the one whose answer was lost.
 */
import { type PartMessages, SendError, type SendReceipt } from "../../../contracts/channel.ts";
import type { InboundFiles } from "../../../contracts/channels/platform.ts";
import type { OutboxRow } from "../../../contracts/delivery.ts";
import { orAborted } from "../../../kit/deferred.ts";
import type { BotApi } from "../api/bot-api.ts";
import type { ChatCooldowns } from "../api/chat-cooldowns.ts";
import { isRefused, toSendError } from "../api/faults.ts";
import type { AccountState, Previews } from "../../kit/index.ts";
import type { Chunk } from "../render/split.ts";
import { sendAlbum } from "./album.ts";
import { sendFile } from "./file.ts";
import { type Step, stepsOf } from "./plan.ts";
import { editText, sendText } from "./message-calls.ts";

interface SenderDeps {
  readonly api: BotApi;
  readonly cooldowns: ChatCooldowns;
  readonly facts: AccountState;
  readonly files: Pick<InboundFiles, "read">;
  readonly previews: Pick<Previews, "take" | "release" | "drop" | "forget">;
}

/** What is known about a part that is being sent. */
interface Progress {
  readonly sent: readonly string[];
  /** The message its first text is written into. */
  readonly preview: string | null;
  /** What the preview shows already. */
  readonly shown?: string | null;
  /** A preview of it may stand beside it. */
  readonly inDoubt?: boolean;
}

const DOUBT = "the answer to the send of its preview was lost; the beginning of it may stand in the chat as well";

/** Two messages with the same key look the same. */
export const chunkKey = ({ text, entities }: Chunk): string => JSON.stringify([text, entities]);

export const GONE = /upgraded to a supergroup|message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i;
export const UNCHANGED = /message is not modified/i;

export async function sendPart(deps: SenderDeps, part: OutboxRow, signal: AbortSignal): Promise<SendReceipt> {
  const { chat } = part.to;
  const cooldownMs = deps.cooldowns.leftMs(chat);
  if (cooldownMs > 0) throw new SendError("limited", "Telegram has paused this chat", { retryAfterMs: cooldownMs });
  const key = keyOf(part);
  let progress = (await readProgress(deps, key)) ?? (await begin(deps, part, signal));
  const steps = stepsOf(part.message, progress.preview !== null);
  try {
    for (const [at, step] of steps.entries()) {
      if (at < progress.sent.length) continue;
      const id = await runStep(deps, { step, part, progress }, signal);
      progress = { ...progress, sent: [...progress.sent, id] };
      if (at + 1 < steps.length) await deps.facts.put(key, JSON.stringify(progress));
    }
  } catch (error) {
    const failure = toSendError(deps.cooldowns.note(chat, error));
    if (failure.kind === "permanent") await giveUp(deps, part, key);
    throw failure;
  }
  await deps.facts.forget(key);
  if (part.part === 0) await deps.previews.forget(part.turnId);
  const providerIds = progress.sent.filter((id) => id !== SKIPPED).flatMap((ids) => ids.split(BETWEEN_IDS));
  const [first] = providerIds;
  const sent = first === undefined ? {} : { providerId: first, providerIds };
  return { ...sent, ...(progress.inDoubt ? { doubt: DOUBT } : {}) };
}

/** How far a part has come, for those who decide whether a message may be repeated. */
export function partMessages(deps: SenderDeps): PartMessages {
  return {
    delivered: async (part) => (await readProgress(deps, keyOf(part)))?.sent.length ?? 0,
    async skip(part, signal) {
      const key = keyOf(part);
      const progress = (await readProgress(deps, key)) ?? (await begin(deps, part, signal));
      const next: Progress = { ...progress, sent: [...progress.sent, SKIPPED] };
      if (next.sent.length >= stepsOf(part.message, progress.preview !== null).length) return false;
      await deps.facts.put(key, JSON.stringify(next));
      return true;
    },
  };
}

/** An album is one step and several messages. */
const BETWEEN_IDS = ",";
/** Stands for the id of a message that may be in the chat or not. */
const SKIPPED = "";

const keyOf = ({ id }: OutboxRow): string => `sent:${id}`;

/** Nobody goes on with this part, and its preview is left without a reply. */
async function giveUp(deps: SenderDeps, part: OutboxRow, key: string): Promise<void> {
  await deps.facts.forget(key);
  if (part.part === 0) await deps.previews.release(part.turnId);
}

async function begin({ previews }: SenderDeps, part: OutboxRow, signal: AbortSignal): Promise<Progress> {
  if (part.part < 0) await previews.drop(part.turnId);
  if (part.part !== 0) return { sent: [], preview: null };
  const { message, inDoubt, shown } = await orAborted(previews.take(part.turnId, part.to), signal);
  return { sent: [], preview: message, inDoubt, shown };
}

interface Doing {
  readonly step: Step;
  readonly part: OutboxRow;
  readonly progress: Progress;
}

async function runStep(deps: SenderDeps, doing: Doing, signal: AbortSignal): Promise<string> {
  const { step, part, progress } = doing;
  const first = progress.sent.length === 0;
  const replyTo = first ? Number(part.message.replyTo) : null;
  if (step.kind === "file") return sendFile(deps, { ...step, to: part.to, replyTo }, signal);
  if (step.kind === "album")
    return (await sendAlbum(deps, { ...step, to: part.to, replyTo }, signal)).join(BETWEEN_IDS);
  if (first && progress.preview !== null) {
    const written = await writeInto(deps, doing, progress.preview, signal);
    if (written) return progress.preview;
  }
  return sendText(deps.api, { to: part.to, chunk: step.chunk, replyTo }, signal);
}

/** False: the preview is not there any more, so the text needs a message of its own. */
async function writeInto(
  { api, cooldowns }: SenderDeps,
  { part, step, progress }: Doing,
  messageId: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (step.kind !== "text") return false;
  if (progress.shown === chunkKey(step.chunk)) return true; // Telegram answers 400 to an edit that changes nothing
  try {
    await editText(api, { chat: part.to.chat, messageId }, step.chunk, signal);
    return true;
  } catch (error) {
    if (isRefused(error, UNCHANGED)) return true;
    if (isRefused(error, GONE)) return false;
    throw toSendError(cooldowns.note(part.to.chat, error), true);
  }
}

async function readProgress({ facts }: SenderDeps, key: string): Promise<Progress | null> {
  const stored = await facts.get(key);
  return stored === null ? null : (JSON.parse(stored) as Progress); // written above
}
