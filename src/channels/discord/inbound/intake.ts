/**
 * Takes in messages: first the access check, then files are fetched, then the message is stored, then it counts as read. One that cannot be
 * stored is tried again, in its place. After a new sign-in, what was said while the gateway was away is read from where it stopped.
 */
import type { API } from "@discordjs/core";
import type { InboundMessage } from "../../../contracts/chat.ts";
import type { AnswerReceipt, Receipt } from "../../../contracts/channel.ts";
import type { Arrival, PlatformDeps } from "../../../contracts/channels/platform.ts";
import { untilDone } from "../../../kit/until-done.ts";
import { appendText } from "../../../kit/marks/quoted.ts";
import { createLanes, keepFiles, type KeptFiles, type MessageFile, type Previews, remember } from "../../kit/index.ts";
import { failureOf } from "../outbound/failure.ts";
import type { RestClient } from "../outbound/rest-client.ts";
import { snowflakeTime } from "../settings.ts";
import { catchUp } from "./catch-up.ts";
import type { Places } from "./threads.ts";
import type { KnownChannel, Seen } from "./seen.ts";
import { type SaidMessage, translate, type Translated } from "./translate.ts";

export interface IntakeDeps extends Pick<PlatformDeps, "clock" | "log" | "door" | "files"> {
  readonly api: API;
  readonly download: RestClient["download"];
  readonly mediaMaxMb: number;
  readonly places: Places;
  readonly seen: Seen;
  readonly previews: Pick<Previews, "expect">;
  /** The bot's own id. */
  me(): string | null;
}

export interface Intake extends AsyncDisposable {
  said(message: SaidMessage): void;
  changed(message: SaidMessage): void;
  /** A new session has begun: what was missed comes before what is said from this moment on. */
  begun(): void;
}

export const MAX_WAITING = 200;
/** Over all channels, for the moment in which it is looked up how far each was read. */
const MAX_HELD = 2_000;
const MAX_RECENT = 5_000;
/** An older message is history, whoever changes it. */
const EDIT_MS = 3_600_000;
const UNKNOWN_TYPE = "application/octet-stream";

interface IntakeWork extends IntakeDeps {
  /** Ids of messages that were dealt with lately. */
  readonly recent: Map<string, true>;
}

export function startIntake(base: IntakeDeps): Intake {
  const stopping = new AbortController();
  const { signal } = stopping;
  const deps: IntakeWork = { ...base, recent: new Map() };
  const guilds = new Map<string, string | null>();
  const fetchMissed = (channel: KnownChannel) => () =>
    catchUp(
      { ...deps, seen: patient(deps, signal) },
      channel,
      (message) => takeIn(deps, { said: message, kind: "message", channel }, signal),
      signal,
    );
  const lanes = createLanes({
    maxWaiting: MAX_WAITING,
    onCaughtUp: (id) => void lanes.add(id, fetchMissed({ id, guild: guilds.get(id) ?? null })),
    onFailed: (error) => {
      if (!signal.aborted) deps.log.error("message from Discord not dealt with", { error });
    },
  });
  const add = (said: SaidMessage, kind: Arrival["kind"]): void => {
    if (signal.aborted) return;
    const channel: KnownChannel = { id: said.channel_id, guild: said.guild_id ?? null };
    const taken = lanes.add(channel.id, () => takeIn(deps, { said, kind, channel }, signal));
    if (taken) return;
    guilds.set(channel.id, channel.guild);
    deps.log.warn("too many messages at once; the rest is fetched later", { chat: channel.id });
  };
  /** What was missed is put in line first; until it is known where to look for it, what is said waits. Never rejects. */
  let opening: Promise<void> = Promise.resolve();
  let held = 0;
  const afterOpening = (run: () => void): void => {
    if (held >= MAX_HELD) return deps.log.warn("too many messages at once; the rest is fetched later");
    held++;
    opening = opening.then(() => {
      held--;
      try {
        run();
      } catch (error) {
        deps.log.error("message from Discord not dealt with", { error });
      }
    });
  };
  return {
    said: (message) => afterOpening(() => add(message, "message")),
    changed(message) {
      // also told when a link gets its picture; that is nobody's doing
      if (message.edited_timestamp && message.author) afterOpening(() => add(message, "edit"));
    },
    begun() {
      opening = opening
        .then(() => retrying(deps, () => deps.seen.known(), signal))
        .then((known) => known?.forEach((channel) => lanes.add(channel.id, fetchMissed(channel))));
    },
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("the channel is closing"));
      await opening;
      await lanes.settled();
    },
  };
}

interface Arrived {
  readonly said: SaidMessage;
  readonly kind: Arrival["kind"];
  readonly channel: KnownChannel;
}

async function takeIn(deps: IntakeWork, { said, kind, channel }: Arrived, signal: AbortSignal): Promise<void> {
  const me = deps.me();
  if (signal.aborted || me === null) return;
  if (kind === "message" && deps.recent.has(said.id)) return;
  if (kind === "edit" && deps.clock.now() - snowflakeTime(said.id) > EDIT_MS) return;
  const address = deps.places.address(channel.id);
  const translated = translate(said, { me, address, guild: channel.guild });
  if (!translated) return;
  const stored = await untilStored(deps, { translated, kind }, signal);
  if (stored === null) return;
  const { receipt, tell: sentences } = stored;
  remember(deps.recent, said.id, true, MAX_RECENT);
  if (receipt.kind === "queued") {
    deps.previews.expect(receipt.id, { to: address, replyTo: channel.guild === null ? null : said.id });
    for (const sentence of sentences) await tell(deps, channel.id, sentence, signal);
  }
  if (receipt.kind !== "refused") return await untilNoted(deps, channel, said.id, signal);
  if (receipt.because !== "ignored" && receipt.say !== "") await tell(deps, channel.id, receipt.say, signal);
}

interface ToStore {
  readonly translated: Translated;
  readonly kind: Arrival["kind"];
}

interface Stored {
  readonly receipt: Receipt | AnswerReceipt;
  /** For the sender, about files that are missing. */
  readonly tell: readonly string[];
}

/** Null: the sender has no access, or the channel closes. */
async function untilStored(
  deps: IntakeWork,
  { translated, kind }: ToStore,
  signal: AbortSignal,
): Promise<Stored | null> {
  const { message: fresh } = translated;
  const { answering: _answering, ...told } = fresh;
  const message = kind === "edit" ? told : fresh; // a change of what was said before answers nothing
  const { address, scope, sender, mentioned } = message;
  const place = message.place === undefined ? {} : { place: message.place };
  const said = { eventId: message.eventId, text: message.text, at: snowflakeTime(message.eventId) };
  const seenBy = await retrying(
    deps,
    () => deps.door.look({ address, scope, sender, mentioned, kind, said, ...place, ...editedOf(deps, message, kind) }),
    signal,
  );
  if (seenBy === null) return null;
  if (seenBy.kind === "stay") {
    if (kind === "message") remember(deps.recent, message.eventId, true, MAX_RECENT);
    if (seenBy.say !== null) await tell(deps, address.thread ?? address.chat, seenBy.say, signal);
    return null;
  }
  let kept: KeptFiles | null = null;
  return retrying(
    deps,
    async () => {
      kept ??= await keepFiles(deps, sender.principal, filesOf(deps, translated), signal);
      const { text, quoted } = appendText(message, kept.words);
      const attachments = kept.media;
      const whole: InboundMessage = { ...message, text, quoted, attachments, receivedAt: deps.clock.now() };
      return { receipt: await deps.door.receive(whole, signal), tell: kept.tell };
    },
    signal,
  );
}

function filesOf({ download }: IntakeWork, { attachments, voice }: Translated): readonly MessageFile[] {
  return attachments.map(({ filename, content_type, size, url }) => ({
    name: filename,
    mimeType: content_type ?? UNKNOWN_TYPE,
    bytes: size,
    open: (signal) => download(url, signal),
    spoken: voice,
  }));
}

/** A message that was seen here without a mention is taken when an edit adds one; any other edit has to be of a stored message. */
function editedOf(
  { recent }: IntakeWork,
  { eventId, fingerprint }: Pick<InboundMessage, "eventId" | "fingerprint">,
  kind: Arrival["kind"],
): Pick<Arrival, "edited"> {
  return kind === "edit" && !recent.has(eventId) ? { edited: { eventId, fingerprint } } : {};
}

async function untilNoted(deps: IntakeWork, channel: KnownChannel, id: string, signal: AbortSignal): Promise<void> {
  await retrying(deps, async () => (await deps.seen.note(channel, id), true), signal);
}

/** Until it works; null when the channel closes first. Later messages of this channel wait, or they would be answered out of order. */
async function retrying<T>({ clock, log }: IntakeDeps, run: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
  const failed = (error: unknown, nextTryInMs: number): void =>
    log.error("message from Discord not stored yet", { nextTryInMs, error });
  return untilDone({ clock, failed }, run, signal);
}

/** How far a channel was read is asked until it is known: without it, nobody would ever fetch what was missed there. */
function patient(deps: IntakeWork, signal: AbortSignal): Pick<IntakeDeps["seen"], "last" | "forget"> {
  return {
    last: (id) => retrying(deps, () => deps.seen.last(id), signal),
    forget: async (id) => void (await retrying(deps, async () => (await deps.seen.forget(id), true), signal)),
  };
}

/** Best effort: nothing hangs on it. */
async function tell({ api, log }: IntakeDeps, channel: string, content: string, signal: AbortSignal): Promise<void> {
  await api.channels
    .createMessage(channel, { content }, { signal })
    .catch((error: unknown) => log.debug("sender not told", { kind: failureOf(error).kind }));
}
