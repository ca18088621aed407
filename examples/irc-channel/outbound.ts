/**
 * A stored reply part → lines on the wire. IRC gives no receipts, so each handful of lines is followed by a PING: servers do what they are told
 * in order, and when the PONG is back everything before it was done or complained about. Where the server echoes, the echoes are counted too.
 */
import type { OutboundMessage, OutboxRow, PluginChannelDeps } from "pi-gateway/plugin";
import { ACCOUNT, CHANNEL, type IrcSettings } from "./config.ts";
import type { Connection } from "./wire/connection.ts";
import { formatLine, type Line } from "./wire/line.ts";
import { fold, fromOf, isChannel, isTarget, partsOf, type Person } from "./wire/names.ts";
import { linesOf, roomFor } from "./wire/text.ts";

export interface Sender {
  send(part: OutboxRow, signal: AbortSignal): Promise<void>;
  /** How many lines of a part have arrived. */
  delivered(part: OutboxRow): Promise<number>;
  /** The next handful of lines may have arrived and must not be repeated. False: no line comes after them. */
  skip(part: OutboxRow): Promise<boolean>;
  /** One sentence to a nick or a channel, as a notice and without a receipt: nobody's program answers those. Never rejects. */
  say(target: string, text: string): Promise<void>;
  /** The same to whoever this chat is with, and to nobody who took their nick. Never rejects. */
  tell(chat: string, text: string): Promise<void>;
  met(person: Person): Promise<void>;
}

export interface SenderDeps extends Pick<PluginChannelDeps, "clock" | "ids" | "log" | "facts" | "kit"> {
  /** Null while there is none. */
  connection(): Connection | null;
}

type Kind = "retry" | "limited" | "permanent" | "lost";

/** What the gateway knows a failed send by; its own class is not in reach of a plugin. */
export class SendError extends Error {
  override readonly name = "SendError";
  readonly kind: Kind;
  readonly retryAfterMs?: number;

  constructor(kind: Kind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}

const LINES_AT_ONCE = 5;
/** Lines that the server has not confirmed by then may have arrived or not. */
const CONFIRM_MS = 30_000;
/** The gateway waits a minute for a part. A long one goes on after a break, where it was. */
const BUDGET_MS = 25_000;
const SLOW_DOWN_MS = 10_000;
const TOKEN_BYTES = 6;
/** People whose nick is known without looking it up. */
const MAX_SEEN = 10_000;
const NOT_THERE = ["401", "403", "406", "442"];
const SLOW_DOWN = ["263", "439"];
const REFUSED = [
  "404",
  "407",
  "408",
  "411",
  "412",
  "413",
  "414",
  "415",
  "477",
  "486",
  "487",
  "489",
  "494",
  "531",
  "716",
];

export function createSender(
  deps: SenderDeps,
  settings: Pick<IrcSettings, "checkRecipient">,
  closing: AbortSignal,
): Sender {
  const seen = new Map<string, Reached>();
  const alone = createTurns();
  const { kit } = deps;
  const remember = (chat: string, place: Reached): void => kit.remember(seen, chat, place, MAX_SEEN);
  const linesTo = (command: string, target: string, text: string): readonly string[] =>
    linesOf(text, roomFor(command, target), kit.wholeCharacters);
  const reach = async (chat: string): Promise<Reached | null> => {
    if (isChannel(chat)) return { nick: chat, from: null };
    const known = seen.get(chat) ?? partsOf(chat) ?? (await remembered(deps, chat));
    if (known) remember(chat, known);
    return known;
  };
  return {
    async send({ id, message, to }, given) {
      const signal = AbortSignal.any([given, closing]);
      const place = await reach(to.chat);
      if (!place || !isTarget(place.nick)) throw new SendError("permanent", "nobody of this name was ever here");
      const lines = linesTo("PRIVMSG", place.nick, wordsOf(message));
      const began = deps.clock.elapsed();
      for (let done = await progress(deps, id); done < lines.length;) {
        if (deps.clock.elapsed() - began > BUDGET_MS) throw new SendError("limited", "there is more to say", 0);
        const batch = { place, lines: lines.slice(done, done + LINES_AT_ONCE), check: settings.checkRecipient };
        const turn = await alone.turn(signal);
        try {
          const { delivered, failure } = await sendBatch(deps, batch, signal);
          done += delivered;
          if (delivered > 0 && done < lines.length) await deps.facts.put(CHANNEL, ACCOUNT, `part:${id}`, String(done));
          if (failure) throw failure;
        } finally {
          turn[Symbol.dispose]();
        }
      }
      await deps.facts.forget(CHANNEL, ACCOUNT, `part:${id}`);
    },
    delivered: ({ id }) => progress(deps, id),
    async skip({ id, message, to }) {
      const place = await reach(to.chat);
      const lines = place ? linesTo("PRIVMSG", place.nick, wordsOf(message)) : [];
      const done = (await progress(deps, id)) + LINES_AT_ONCE;
      if (done >= lines.length) return false;
      await deps.facts.put(CHANNEL, ACCOUNT, `part:${id}`, String(done));
      return true;
    },
    async say(target, text) {
      const connection = deps.connection();
      if (!connection || !isTarget(target)) return;
      for (const line of linesTo("NOTICE", target, text))
        await connection
          .write(formatLine("NOTICE", target, line), closing)
          .catch(() => deps.log.warn("sentence not delivered"));
    },
    async tell(chat, text) {
      try {
        const place = await reach(chat);
        if (!place || !isTarget(place.nick)) return;
        const lines = linesTo("PRIVMSG", place.nick, text);
        using _turn = await alone.turn(closing);
        await sendBatch(deps, { place, lines, check: settings.checkRecipient }, closing);
      } catch {
        deps.log.warn("sentence not delivered"); // what it was is nobody's business
      }
    },
    async met({ id, nick, from, hasAccount }) {
      const before = seen.get(id);
      remember(id, { nick, from });
      // Without an account the id itself says where they are.
      if (!hasAccount || (before?.nick === nick && before.from === from)) return;
      await deps.facts.put(CHANNEL, ACCOUNT, `nick:${id}`, JSON.stringify({ nick, from }));
    },
  };
}

interface Reached {
  readonly nick: string;
  /** `user@host` they were last seen at; null for a channel. */
  readonly from: string | null;
}

async function remembered({ facts }: SenderDeps, chat: string): Promise<Reached | null> {
  const stored = await facts.get(CHANNEL, ACCOUNT, `nick:${chat}`);
  return stored === null ? null : (JSON.parse(stored) as Reached); // written by `met`
}

async function progress({ facts }: SenderDeps, id: string): Promise<number> {
  return Number((await facts.get(CHANNEL, ACCOUNT, `part:${id}`)) ?? 0);
}

/** Files cannot be sent here, and nobody should wait for one. */
export function wordsOf({ text, attachments = [] }: OutboundMessage): string {
  const files = attachments.map(({ name }) => `(The file ${name} cannot be sent over IRC.)`);
  const words = [text, ...files].filter((line) => line.trim() !== "").join("\n");
  return words === "" ? "(no text)" : words;
}

interface Batch {
  readonly place: Reached;
  readonly lines: readonly string[];
  readonly check: boolean;
}

interface Outcome {
  /** Of the lines, from the first on. */
  readonly delivered: number;
  readonly failure: SendError | null;
}

async function sendBatch(deps: SenderDeps, { place, lines, check }: Batch, signal: AbortSignal): Promise<Outcome> {
  const connection = deps.connection();
  if (!connection) throw new SendError("retry", "not connected");
  if (check && place.from !== null) await checkRecipient(deps, connection, place, signal);
  const { nick: target } = place;
  const mark = deps.ids.secret(TOKEN_BYTES);
  const complaints: SendError[] = [];
  let echoes = 0;
  const watch = waitFor(deps, connection, signal, (line) => {
    if (isEcho(line, connection, target)) echoes++;
    const complaint = complaintOf(line, target);
    if (complaint) complaints.push(complaint);
    return line.command === "PONG" && line.params.at(-1) === mark ? true : null;
  });
  let written = 0;
  try {
    for (const line of lines) {
      await connection.write(formatLine("PRIVMSG", target, line), signal);
      written++;
    }
    await connection.write(formatLine("PING", mark), signal);
    await watch;
  } catch {
    watch.catch(() => undefined); // the same news once more
    if (written === 0) throw new SendError("retry", "the connection ended before anything was sent");
    throw new SendError("lost", "the server did not confirm it");
  }
  if (complaints.length > 0)
    return { delivered: Math.max(0, lines.length - complaints.length), failure: complaints[0] ?? null };
  if (connection.caps.has("echo-message") && echoes < lines.length)
    return {
      delivered: echoes,
      failure: new SendError("permanent", "the server took the message and did not show it"),
    };
  return { delivered: lines.length, failure: null };
}

/** Whoever has the nick now must be who spoke to us: an answer is not for somebody who only took the name. */
async function checkRecipient(
  deps: SenderDeps,
  connection: Connection,
  { nick, from }: Reached,
  signal: AbortSignal,
): Promise<void> {
  const asked = waitFor(deps, connection, signal, ({ command, params }) =>
    command === "302" ? { found: params.at(-1) ?? "" } : null,
  );
  try {
    await connection.write(formatLine("USERHOST", nick), signal);
    const { found } = await asked;
    if (found.trim() === "") throw new SendError("retry", "they are not on the network now");
    if (hostIn(found) !== from) throw new SendError("retry", "somebody else has their nick now");
  } catch (error) {
    asked.catch(() => undefined); // the same news once more
    throw error instanceof SendError ? error : new SendError("retry", "the server did not say who is there");
  }
}

/** `alice*=+~al@host`: an operator has the star, somebody who is away the minus. */
function hostIn(reply: string): string {
  const place = reply.trim().replace(/^[^=]*=[+-]?/, "");
  const at = place.lastIndexOf("@");
  return fromOf({ user: place.slice(0, at), host: place.slice(at + 1) });
}

function isEcho({ command, prefix, params }: Line, { nick }: Connection, target: string): boolean {
  return command === "PRIVMSG" && fold(prefix?.nick ?? "") === fold(nick) && fold(params[0] ?? "") === fold(target);
}

/** Null: it says nothing about what was sent. Some servers do not name whom it was for. */
export function complaintOf({ command, params }: Line, target: string): SendError | null {
  if (params.length > 2 && fold(params[1] ?? "") !== fold(target)) return null;
  const words = `${command} ${params.at(-1) ?? ""}`.slice(0, 200);
  if (NOT_THERE.includes(command)) return new SendError("retry", words);
  if (REFUSED.includes(command)) return new SendError("permanent", words);
  if (!SLOW_DOWN.includes(command)) return null;
  const seconds = Number(/(\d{1,4}) ?sec/.exec(words)?.[1] ?? 0);
  return new SendError("limited", words, Math.max(seconds * 1_000, SLOW_DOWN_MS));
}

/** The first line that `fits` makes something of. Rejects when the connection ends, when nothing comes in time, or when it is given up. */
function waitFor<T>(
  { clock }: SenderDeps,
  connection: Connection,
  signal: AbortSignal,
  fits: (line: Line) => T | null,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const limit = clock.deadline(CONFIRM_MS, () => new Error("the server did not answer in time"));
  const stop = AbortSignal.any([signal, connection.over, limit.signal]);
  const giveUp = (): void => reject(stop.reason);
  const listening = connection.listen((line) => {
    const found = fits(line);
    if (found !== null) resolve(found);
  });
  if (stop.aborted) giveUp();
  stop.addEventListener("abort", giveUp, { once: true });
  return promise.finally(() => {
    stop.removeEventListener("abort", giveUp);
    listening[Symbol.dispose]();
    limit[Symbol.dispose]();
  });
}

/** One at a time, so that a complaint is about what was said last. Whoever gives up while waiting has sent nothing. */
function createTurns(): { turn(signal: AbortSignal): Promise<Disposable> } {
  let last: Promise<void> = Promise.resolve();
  return {
    async turn(signal) {
      const before = last;
      const mine = Promise.withResolvers<void>();
      last = before.then(() => mine.promise);
      const given = Promise.withResolvers<void>();
      const giveUp = (): void => given.reject(new SendError("retry", "it was not its turn yet"));
      if (signal.aborted) giveUp();
      signal.addEventListener("abort", giveUp, { once: true });
      void before.then(() => given.resolve());
      try {
        await given.promise;
      } catch (error) {
        mine.resolve();
        throw error;
      } finally {
        signal.removeEventListener("abort", giveUp);
      }
      return { [Symbol.dispose]: () => mine.resolve() };
    },
  };
}
