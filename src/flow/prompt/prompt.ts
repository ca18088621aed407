/** The prompt of a turn: the text and the pictures of its messages, a summary of overflow, and before them what the agent should know about this turn. */
import type { Caller, PromptInput, StartedOver } from "../../contracts/agent.ts";
import type { ClaimedEvents, SystemEventStore } from "../../contracts/automation/system-event.ts";
import type { MediaRef, QuotedText } from "../../contracts/chat.ts";
import type { Commands } from "../../contracts/command.ts";
import type { AttachedFiles } from "../../contracts/agent-files.ts";
import type { Batch, BatchEntry } from "../../contracts/queue.ts";
import type { MediaStore, SessionStore } from "../../contracts/store.ts";
import type { MessageStore, ReactionStore } from "../../contracts/store/messages.ts";
import type { Ids } from "../../kit/ids.ts";
import { eventText } from "./event-text.ts";
import type { GroupTalk } from "../intake/group-talk.ts";
import { type TurnContext, messageLines } from "./turn-context.ts";
import { historyFor } from "./started-over.ts";
import { callerOf, clientOf } from "../turn-rights.ts";
import { block, oneLine, withoutMarks } from "../../kit/marks/markers.ts";
import { wrapQuoted } from "../../kit/marks/quoted.ts";
import { wrapUntrusted } from "../../kit/marks/untrusted.ts";

/** Everything else is a file to them. */
const MODELS_SEE: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Where a prompt takes its parts from. */
export interface PromptSources {
  readonly ids: Ids;
  /** Time, channel and sender, told when they are new. */
  readonly context: TurnContext;
  readonly commands: Pick<Commands, "plain">;
  readonly media: Pick<MediaStore, "read">;
  readonly attached: AttachedFiles;
  readonly reactions: Pick<ReactionStore, "tell">;
  readonly messageIds: Pick<MessageStore, "idOf">;
  readonly groupTalk: Pick<GroupTalk, "tell">;
  /** The transcript, for an agent whose session file was lost. */
  readonly history: Pick<SessionStore, "transcript">;
  /** Text that the gateway puts into the session besides messages of people. */
  readonly systemEvents: Pick<SystemEventStore, "claim">;
}

export const NO_EVENTS: ClaimedEvents = { events: [], hidden: 0 };

type Said = Pick<Batch, "entries" | "hidden">;

/** `told`: what the gateway has to tell besides what people say. `startedOver`: what was said before has to be told, too. */
export async function promptFor(
  sources: PromptSources,
  batch: Batch,
  told: ClaimedEvents = NO_EVENTS,
  startedOver?: StartedOver,
): Promise<PromptInput> {
  const { ids, context } = sources;
  const { attached, images, pieces } = await readEntries(sources, batch, callerOf(batch));
  const { lines, blocks, realTexts } = eventText(ids, told);
  const history = await historyFor(sources, batch, startedOver);
  const reactions = await reactionsFor(sources, batch);
  const answered = await answeredLines(sources, batch.entries);
  const facts = context.tell(batch, [...answered, ...history.lines, ...lines, ...attached]);
  const { instructions = "" } = clientOf(batch) ?? {};
  const others = [...reactions, ...overheardIn(sources, batch)];
  const preface = [...(facts === null ? [] : [facts]), ...history.blocks, ...blocks, ...others].join("\n\n");
  return {
    text: markedText(ids, batch, pieces),
    images,
    ...(preface === "" ? {} : { preface }),
    ...(instructions === "" ? {} : { instructions }),
    ...(realTexts.length === 0 ? {} : { realTexts }),
  };
}

/** Text that is steered into a running turn: the messages, and a note for each file; all other facts are known there. */
export async function steeringFor(
  sources: PromptSources,
  batch: Batch,
  entries: Said["entries"],
): Promise<PromptInput> {
  const { role } = batch;
  const { attached, images, pieces } = await readEntries(sources, { entries, hidden: 0 }, callerOf(batch));
  const text = markedText(sources.ids, { entries, role }, pieces);
  const lines = [...messageLines(entries), ...(await answeredLines(sources, entries)), ...attached];
  if (lines.length === 0) return { text, images };
  return { text, images, preface: block(sources.ids, "gateway-facts", { body: lines.join("\n") }) };
}

/** Which messages are replies, and to which: by the ids under which tools take them. */
async function answeredLines({ messageIds }: PromptSources, entries: Batch["entries"]): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { id, message, overflow } of entries) {
    const answered = overflow ? undefined : message.quoted.find(({ how }) => how === "reply");
    const byPlatform = answered?.message;
    const found =
      answered?.ownId ?? (byPlatform === undefined ? null : await messageIds.idOf(message.address, byPlatform));
    if (found) lines.push(`${entries.length === 1 ? "" : `${id} `}replies to: ${found}`);
  }
  return lines;
}

/** A block for each message, so that none can speak for another. */
function overheardIn({ groupTalk, ids }: PromptSources, { entries: [first], turnId }: Batch): readonly string[] {
  if (first?.message.scope !== "group" || (first.message.origin ?? "chat") !== "chat") return [];
  const source = "earlier message in this group, not to you";
  return groupTalk.tell(first.message, turnId).map(({ author, text }) => wrapUntrusted(ids, { source, author, text }));
}

/** Names of people and of custom emoji are other people's words, so the block is marked as theirs. */
async function reactionsFor(
  { reactions, ids }: PromptSources,
  { sessionKey, turnId, hasNews }: Batch,
): Promise<readonly string[]> {
  if (!hasNews) return [];
  const told = await reactions.tell(sessionKey, turnId);
  if (told.length === 0) return [];
  const lines = told.map(({ emoji, by, messageId, text }) => {
    const who = `"${oneLine(by.name)}" (${oneLine(by.principal)})`;
    return `${oneLine(emoji)} from ${who} to your message ${messageId} "${oneLine(text)}"`;
  });
  return [wrapUntrusted(ids, { source: "reactions to your messages", text: lines.join("\n") })];
}

/** Text of one message: its sender's, and before it text of others that the message quotes. */
interface Piece {
  readonly text: string;
  readonly quoted: readonly QuotedText[];
}

interface Entries extends Pick<PromptInput, "images"> {
  readonly pieces: readonly Piece[];
  /** A note for each file. */
  readonly attached: readonly string[];
}

async function readEntries(sources: PromptSources, { entries, hidden }: Said, caller: Caller): Promise<Entries> {
  const whole = entries.filter((entry) => !entry.overflow);
  const said = whole.map(({ message }) => ({
    text: sources.commands.plain(message),
    quoted: message.quoted,
  }));
  const pieces = [...withoutRepeats(said), ...overflowPieces(entries, hidden)];
  const attachments = whole.flatMap((entry) => entry.message.attachments);
  const images: PromptInput["images"][number][] = [];
  const attached: string[] = [];
  for (const media of attachments) {
    const picture = MODELS_SEE.has(media.mimeType) ? await pictureOf(sources, media) : null;
    if (picture) images.push(picture);
    const path = await sources.attached.place(media, caller);
    attached.push(noteFor(media, { seen: picture !== null, path }));
  }
  if (pieces.some(({ text }) => text.trim() !== "")) return { pieces, images, attached };
  const silent = { text: wordless(pieces, { images: images.length, files: attachments.length }), quoted: [] };
  return { pieces: [...pieces.map((piece) => ({ ...piece, text: "" })), silent], images, attached };
}

/** Stands for the words of a message that has none. */
function wordless(
  pieces: readonly Piece[],
  { images, files }: { readonly images: number; readonly files: number },
): string {
  if (pieces.some(({ quoted }) => quoted.length > 0)) return "(no words of their own)";
  if (files === 0) return "";
  return images > 0 ? "(picture)" : "(file)";
}

function ownText(pieces: readonly Piece[]): string {
  return pieces
    .map(({ text }) => text)
    .filter((text) => text !== "")
    .join("\n\n");
}

/** The one place where words become a prompt: what their sender did not write is in a block that says whose it is. */
function markedText(ids: Ids, speaker: Pick<Batch, "entries" | "role">, pieces: readonly Piece[]): string {
  const parts: string[] = [];
  let own: Piece[] = [];
  const endOwn = (): void => {
    const text = ownText(own);
    if (text !== "") parts.push(trustedOrWrapped(ids, speaker, text));
    own = [];
  };
  for (const piece of pieces) {
    if (piece.quoted.length > 0) endOwn();
    const said = piece.quoted.filter(({ how, text }) => how !== "reply" || text !== "");
    parts.push(...said.map((one) => wrapQuoted(ids, one)));
    own.push(piece);
  }
  endOwn();
  return parts.join("\n\n");
}

async function pictureOf({ media }: PromptSources, { mediaId, mimeType }: MediaRef) {
  const data = await media.read(mediaId);
  if (!data) return null;
  return { mimeType, base64: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64") };
}

function noteFor(
  { name, mimeType, bytes }: MediaRef,
  { seen, path }: { readonly seen: boolean; readonly path: string | null },
): string {
  const about = `"${oneLine(name)}" (${oneLine(mimeType)}, ${Math.ceil(bytes / 1024)} KiB)`;
  const how = [...(seen ? ["shown to you"] : []), ...(path === null ? [] : [`saved as ${path}`])].join(", ");
  return `[media attached: ${about}, ${how === "" ? "you cannot open it" : how}]`;
}

/** Text of a guest in a group, of an incoming webhook and of a reaction is untrusted: the agent reads it, and does not obey it. */
function trustedOrWrapped(ids: Ids, { entries: [first], role }: Pick<Batch, "entries" | "role">, text: string): string {
  if (first?.message.origin === "webhook" && first.message.address.channel === "hook")
    return wrapUntrusted(ids, { source: `hook ${first.message.sender.name}`, text });
  if (first?.message.origin === "reaction") {
    const { principal: id, name } = first.message.sender;
    return wrapUntrusted(ids, { source: "reaction", author: { id, name }, text });
  }
  if (first?.message.scope !== "group" || role !== "guest") return withoutMarks(text);
  const { principal, name } = first.message.sender;
  return wrapUntrusted(ids, { source: "group member (guest)", author: { id: principal, name }, text });
}

/** The same words sent again while the session was busy are one message to the model; each still counts as answered. */
function withoutRepeats(said: readonly Piece[]): readonly Piece[] {
  const keys = said.map((piece) => JSON.stringify(piece));
  return said.filter(({ text, quoted }, at) => {
    const isEmpty = text === "" && quoted.length === 0;
    return at === 0 || isEmpty || keys[at] !== keys[at - 1];
  });
}

/** Messages that came when too many waited: who said what, oldest first, each on a line of its own. */
function overflowPieces(entries: readonly BatchEntry[], hidden: number): readonly Piece[] {
  const shown = entries.filter((entry) => entry.overflow);
  if (shown.length === 0) return [];
  const many = shown.length + hidden;
  const head = `(${many} more ${many === 1 ? "message" : "messages"} came while too many were waiting, shown shortened, oldest first:`;
  const earlier = hidden > 0 ? [`- ${hidden} earlier ${hidden === 1 ? "one is" : "ones are"} not shown`] : [];
  const text = [head, ...earlier, ...shown.map(overflowLine)].join("\n").concat(")");
  return [{ text, quoted: shown.flatMap(({ message }) => message.quoted) }];
}

function overflowLine({ message, overflow }: BatchEntry): string {
  const text = message.text.replaceAll(/\s+/g, " ").trim();
  const notes = [
    ...(overflow && overflow.cutChars > 0 && !overflow.isCommand ? [`${overflow.cutChars} more characters`] : []),
    ...(overflow && overflow.attachments > 0 ? [`${overflow.attachments} attached, not shown`] : []),
    ...(overflow?.isCommand ? ["a command, not carried out"] : []),
  ];
  const rest = notes.length > 0 ? `[${notes.join("; ")}]` : "";
  const name = message.sender.name.replaceAll(/\s+/g, " ").trim() || "Somebody";
  return `- ${name}: ${[text, rest].filter((part) => part !== "").join(" ")}`;
}
