/** How one message of a reply part is sent to Discord: into the preview, or under a nonce that Discord enforces, with files within its limits. */
import type { API, CreateMessageOptions } from "@discordjs/core";
import { SendError } from "../../../contracts/channel.ts";
import type { ChatAddress, MediaRef } from "../../../contracts/chat.ts";
import type { InboundFiles } from "../../../contracts/channels/platform.ts";
import type { OutboxRow } from "../../../contracts/delivery.ts";
import type { Log } from "../../../kit/log.ts";
import type { PartPlatform, SendingPiece } from "../../kit/index.ts";
import { isSnowflake } from "../settings.ts";
import { renderMessage } from "../text/render.ts";
import { CODES, failureOf, isGone, toSendError } from "./failure.ts";
import { nonceOf } from "./nonce.ts";

interface SendDeps {
  readonly log: Log;
  readonly api: API;
  readonly files: Pick<InboundFiles, "read">;
  /** Of one file, and of all files of one message. */
  readonly maxFileBytes: number;
}

/** Discord promises "a few minutes" for a nonce; this is surely within them. */
export const DEDUPE_MS = 120_000;
const MAX_FILES = 10;

interface File {
  readonly name: string;
  readonly data: Uint8Array;
  readonly contentType: string;
}

interface Piece {
  readonly content: string;
  readonly files: readonly File[];
}

export function channelOf({ chat, thread }: ChatAddress): string {
  return thread ?? chat;
}

/** A reply to a message that is gone is sent without pointing at it. */
export function replyField(messageId: string | null) {
  return messageId === null ? {} : { message_reference: { message_id: messageId, fail_if_not_exists: false } };
}

export function discordParts(deps: SendDeps): PartPlatform<Piece> {
  return {
    check(to) {
      if (!isSnowflake(channelOf(to))) throw new SendError("permanent", "the address is not one of Discord's");
    },
    piecesOf: (part) => piecesOf(deps, part),
    async send(sending, signal) {
      const channel = channelOf(sending.part.to);
      const { piece, preview } = sending;
      const taken = preview && (await takeOver(deps, { channel, message: preview.message }, piece, signal));
      return [taken ?? (await create(deps, { ...sending, channel }, signal))];
    },
    toSendError,
  };
}

/** Null: the preview is gone, and the piece has to be sent like any other. */
async function takeOver(
  { api }: SendDeps,
  preview: { readonly channel: string; readonly message: string },
  { content, files }: Piece,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const body = { content, ...filesField(files) };
    const shown = await api.channels.editMessage(preview.channel, preview.message, body, { signal });
    return shown.id;
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

interface NewPiece extends SendingPiece<Piece> {
  readonly channel: string;
}

async function create(deps: SendDeps, { channel, piece, part, at }: NewPiece, signal: AbortSignal): Promise<string> {
  const { replyTo } = part.message;
  const reference = at === 0 && replyTo !== undefined && isSnowflake(replyTo) ? replyTo : null;
  const body = (from: Piece, nonce = nonceOf(part.id, at)): CreateMessageOptions => ({
    content: from.content,
    nonce,
    enforce_nonce: true,
    ...replyField(reference),
    ...filesField(from.files),
  });
  const post = (from: Piece, nonce?: string) => deps.api.channels.createMessage(channel, body(from, nonce), { signal });
  /** Discord makes no second message under the nonce of one that was deleted. */
  const postAgain = (from: Piece) => post(from, nonceOf(`${part.id}#again`, at));
  try {
    const shown = await post(piece).catch((error: unknown) => {
      if (isGone(error)) return postAgain(piece);
      throw error;
    });
    // Discord had this nonce already, from a preview whose id was lost: what it shows is not the last word yet
    if (part.part === 0 && at === 0 && shown.content !== piece.content)
      return (await takeOver(deps, { channel, message: shown.id }, piece, signal)) ?? (await postAgain(piece)).id;
    return shown.id;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== "refused" || failure.code !== CODES.tooLarge || piece.files.length === 0) throw error;
    deps.log.warn("files too large for Discord", { outboxId: part.id, files: piece.files.length });
    const shown = await post(withoutFiles(piece));
    return shown.id;
  }
}

function filesField(files: readonly File[]): { files?: { name: string; data: Uint8Array; contentType: string }[] } {
  return files.length === 0 ? {} : { files: files.map((file) => ({ ...file })) };
}

function withoutFiles({ content, files }: Piece): Piece {
  const missing = files.map(({ name }) => missingLine(name, "is too large for this chat")).join("\n");
  return { content: [content, missing].filter((text) => text !== "").join("\n"), files: [] };
}

const missingLine = (name: string, because: string) => `(${name.slice(0, 100)} ${because})`;

/** Text first, files with its last piece, and what is over that in messages of their own. */
async function piecesOf(deps: SendDeps, { message }: OutboxRow): Promise<readonly Piece[]> {
  const { files, notes } = await readFiles(deps, message.attachments ?? []);
  const text = [message.text, ...notes].filter((line) => line !== "").join("\n\n");
  const texts = renderMessage({ ...message, text });
  const groups = groupFiles(files, deps.maxFileBytes);
  const [first = [], ...more] = groups;
  const withText = texts.map((content, at): Piece => ({ content, files: at === texts.length - 1 ? first : [] }));
  const alone = (texts.length === 0 ? groups : more).map((group): Piece => ({ content: "", files: group }));
  return [...withText, ...alone];
}

async function readFiles({ files, maxFileBytes }: SendDeps, refs: readonly MediaRef[]) {
  const read: File[] = [];
  const notes: string[] = [];
  for (const { mediaId, name, mimeType, bytes } of refs) {
    const data = bytes > maxFileBytes ? null : await files.read(mediaId);
    if (data) read.push({ name, data, contentType: mimeType });
    else notes.push(missingLine(name, bytes > maxFileBytes ? "is too large for this chat" : "is not there any more"));
  }
  return { files: read, notes };
}

function groupFiles(files: readonly File[], maxBytes: number): readonly (readonly File[])[] {
  const groups: File[][] = [];
  let bytes = 0;
  for (const file of files) {
    const last = groups.at(-1);
    if (last && last.length < MAX_FILES && bytes + file.data.length <= maxBytes) {
      last.push(file);
      bytes += file.data.length;
    } else {
      groups.push([file]);
      bytes = file.data.length;
    }
  }
  return groups;
}
