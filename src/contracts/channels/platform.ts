/**
 * A platform brings channels: one folder that knows one messenger, and nothing of the rest of the house. What it needs it is given here.
 * Its library is loaded when it is opened, not before.
 */
import type { Approvals } from "../tools/approval.ts";
import type { Channel, ChatReceiver } from "../channel.ts";
import type { ChatAddress, InboundMessage, MediaRef } from "../chat.ts";
import type { Events } from "../events.ts";
import type { Questions } from "./question.ts";
import type { Principal, Role, SessionKey, TurnId } from "../ids.ts";
import type { ReactionChange } from "../store/messages.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";

export interface Platform {
  readonly id: string; // "telegram"
  /** Connects every account of the configuration. One that cannot connect is a channel whose health says so, not a failed start. */
  open(deps: PlatformDeps, signal: AbortSignal): Promise<readonly OpenChannel[]>;
}

/** A channel that receives by itself. Disposing ends its connection; what was stored before stays stored. */
export interface OpenChannel extends Channel, AsyncDisposable {
  readonly account: string;
  /** Requests from the platform itself, verified by the channel; absent: it has none. */
  readonly webhook?: Webhook;
}

export interface Webhook {
  /** `/telegram/main`, fixed for the life of the channel. */
  readonly path: string;
  /** Host names under which the platform calls, as its settings say; taken for this path alone, besides those of the gateway. */
  readonly hosts?: readonly string[];
  /** Gets the raw bytes. Nothing is parsed before they are known to come from the platform. */
  handle(request: WebhookRequest, signal: AbortSignal): Promise<WebhookAnswer>;
}

export interface WebhookRequest {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

export interface WebhookAnswer {
  readonly status: number;
  readonly json?: unknown;
}

export interface PlatformDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly events: Events;
  readonly door: MessageIntake;
  readonly files: InboundFiles;
  readonly facts: ChannelState;
  readonly approvals: Approvals;
  /** For presses of buttons under questions; text goes to the intake. */
  readonly questions: Pick<Questions, "answer" | "answerAnywhere">;
  readonly replies: RepliesUnderWay;
  /** For menus: the same commands everywhere. */
  commands(role: Role): readonly { readonly name: string; readonly help: string; readonly usage?: string }[];
}

/** For previews: what is still to come, and whose it is. */
export interface RepliesUnderWay {
  /** Something said earlier in this chat is still to be delivered: what is shown of a later answer now would stand above it. */
  owes(to: ChatAddress): boolean;
  /** This turn still runs, or its reply is still to be delivered, at this gateway or at another one. */
  isOwed(turnId: TurnId): Promise<boolean>;
  /** Whether no other gateway can have taken over from this one: one that has may be writing into the same messages. */
  isHeld(): boolean;
}

/** The way in for everything a platform brings: messages, edits, button presses, voice, forwards, each with its real author. */
export interface MessageIntake {
  /**
   * Decides without any work: no download, no typing, no transcription happens for somebody without access. `say`: the one sentence
   * they may be told (a pairing code, for example); null: nothing at all.
   */
  look(
    arrival: Arrival,
  ): Promise<{ readonly kind: "come"; readonly role: Role } | { readonly kind: "stay"; readonly say: string | null }>;
  /** Stored when it resolves; then the platform may be told "received". Decides once more. */
  receive: ChatReceiver["receiveChat"];
  /** A person reacted to a message. Decided like a message, without a word to people without access; begins a turn only where `wakeOnReaction` is on. Stored when it resolves. */
  react(reaction: ArrivedReaction): Promise<void>;
  /** A person types. Decided like a message that mentions nobody; a process may be prepared for it. Nothing is stored, and nobody is told. Rejects only what a plugin may not say. */
  typing(facts: TypingFacts): Promise<void>;
}

export type TypingFacts = Pick<InboundMessage, "address" | "scope" | "place" | "sender">;

export type ArrivedReaction = Pick<InboundMessage, "address" | "scope" | "place" | "sender"> &
  Omit<ReactionChange, "by"> & {
    /** As the platform numbers it. */
    readonly messageId: string;
    /** The platform's id of this update, the same when the platform repeats it; absent: it has none. */
    readonly updateId?: string;
  };

export type Arrival = Pick<InboundMessage, "address" | "scope" | "place" | "sender" | "mentioned"> & {
  /** A press of a button or the like: decided like a message, and never more. */
  readonly kind: "message" | "edit" | "action";
  /** For an edit. With it, the edit of a message that was never stored and one that changes nothing stay outside. */
  readonly edited?: EditedMessage;
  /** Its words, for a group where messages that do not mention the gateway are context for the next one that does. */
  readonly said?: SaidText;
};

export interface SaidText {
  readonly eventId: string;
  readonly text: string;
  /** When it was said, by the platform's clock. */
  readonly at: number;
}

export interface EditedMessage {
  /** The event id of the message that was edited. Its edits have the event ids `<this>#<number of the edit>`. */
  readonly eventId: string;
  /** Of the message as it reads now. */
  readonly fingerprint: string;
}

/** What arrives with a message. Capped, typed by content, counted against its sender's quota. */
export interface InboundFiles {
  /** Streams from `open` into the media store. Never throws for what the sender did: `note` tells the agent and the sender what is missing. */
  keep(file: ArrivingFile, signal: AbortSignal): Promise<KeptFile>;
  /** The words of a voice message; cached by content. `failed`: one sentence for its sender. */
  transcribe(
    media: MediaRef,
    signal: AbortSignal,
  ): Promise<
    | { readonly kind: "words"; readonly text: string }
    | { readonly kind: "failed"; readonly say: string }
    | { readonly kind: "off" }
  >;
  read(mediaId: MediaRef["mediaId"]): Promise<Uint8Array | null>;
}

export interface ArrivingFile {
  readonly owner: Principal;
  readonly name: string;
  /** What the platform says; not believed. */
  readonly mimeType: string;
  readonly bytes: number | null;
  /** Called again when the download breaks off. Rejects with `FileGone` when another attempt cannot help. */
  open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

/** The platform does not give out the file (a status such as 404), so nobody asks again. */
export class FileGone extends Error {
  override readonly name = "FileGone";
}

export type KeptFile =
  { readonly kind: "kept"; readonly media: MediaRef } | { readonly kind: "refused"; readonly note: string };

/** The few things a channel has to know after a restart: its offset, the last message it saw, the message a preview is shown in. */
export interface ChannelState {
  get(channel: string, account: string, key: string): Promise<string | null>;
  /** Durable when it resolves. */
  put(channel: string, account: string, key: string, value: string): Promise<void>;
  forget(channel: string, account: string, key: string): Promise<void>;
  /** Those whose key begins like this, by key; no more than a thousand. */
  list(channel: string, account: string, prefix: string): Promise<readonly ChannelValue[]>;
}

export interface ChannelValue {
  readonly key: string;
  readonly value: string;
}

/** Who is being answered, so that a channel can show it: told by `turn.started` and its sisters. */
export interface LiveChat {
  readonly sessionKey: SessionKey;
  readonly turnId: TurnId;
  readonly to: ChatAddress;
}
