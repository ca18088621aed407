/**
 * Facts that change from turn to turn: time, channel, who speaks in a group, what is attached, the ids of the messages. A
 * short block in front of the words, because instructions that change would cost the provider's cache. All but the ids is told only when it is
 * new, because every line is paid for.
 */
import type { Principal } from "../../contracts/ids.ts";
import type { Batch } from "../../contracts/queue.ts";
import { type Clock, hostZone } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import { block, hasMarks, oneLine } from "../../kit/marks/markers.ts";
import { withQuoted } from "../../kit/marks/quoted.ts";

export interface TurnContext {
  /** The block for this turn, or null when the model knows enough. `more`: lines that have to be told. */
  tell(batch: Batch, more?: readonly string[]): string | null;
  /** The time zone of who speaks. */
  zoneOf(batch: Batch): string;
}

/** The facts that a conversation was told last. */
interface Told {
  readonly at: number;
  readonly day: string;
  readonly where: string;
  /** How long the session file was then. If it is no longer now, that turn was withdrawn and the model has forgotten it. */
  readonly settledBytes: number;
}

export interface FactsNow extends Told {
  readonly group: boolean;
  readonly attachments: number;
  /** The words have something in them that looks like a block. */
  readonly lookalike: boolean;
}

type Telling =
  | {
      readonly tell: true;
      readonly because: "first" | "withdrawn" | "group" | "elsewhere" | "attachments" | "lookalike" | "later";
    }
  | { readonly tell: false; readonly because: "known" };

/** The instructions say "within minutes" of a message without a block; this is how many. */
export const FACTS_AGAIN_MS = 600_000;
/** Offsets of time zones are whole minutes since 1972, so that all times of a minute are written alike. */
const MINUTE_MS = 60_000;
/** Conversations whose last block is remembered; who is forgotten is simply told again. */
const MAX_REMEMBERED = 2_000;

export function createTurnContext(
  deps: { readonly clock: Clock; readonly ids: Ids },
  options: { readonly zone?: string; zoneOf?(who: Principal): string | undefined } = {},
): TurnContext {
  const told = new Map<string, Told>();
  const calendars = new Map<string, Calendar>();
  let machineZone: string | null = null;
  const zoneOf = ({ entries: [first] }: Batch): string => {
    const own = first && options.zoneOf?.(first.message.sender.principal);
    return own ?? (machineZone ??= options.zone ?? hostZone()); // asked with the first turn: a start has no use for it
  };
  const local = (batch: Batch) => {
    const zone = zoneOf(batch);
    const calendar = calendars.get(zone) ?? createCalendar(zone);
    calendars.set(zone, calendar); // there are a few hundred zones
    return { zone, calendar };
  };

  const remember = (file: string, facts: Told): void => {
    told.delete(file); // the newest is last
    told.set(file, facts);
    const [oldest] = told.keys();
    if (told.size > MAX_REMEMBERED && oldest !== undefined) told.delete(oldest);
  };

  return {
    zoneOf,
    tell(batch, more = []) {
      const now = deps.clock.now();
      const { zone, calendar } = local(batch);
      const time = calendar.time(now);
      const facts = factsOf(batch, now, { time, zone });
      const { name } = batch.sessionFile;
      const cause = causeOf(batch);
      const needed = more.length > 0 || cause.length > 0;
      const named = messageLines(batch.entries);
      if (!needed && !shouldTell(told.get(name) ?? null, facts).tell)
        return named.length === 0 ? null : block(deps.ids, "gateway-facts", { body: named.join("\n") });
      const lines = [...linesOf(batch, `${time} ${calendar.weekday(now)} (${zone})`), ...named, ...cause, ...more];
      const { at, day, where, settledBytes } = facts;
      remember(name, { at, day, where, settledBytes });
      return block(deps.ids, "gateway-facts", { body: lines.join("\n") });
    },
  };
}

export function shouldTell(told: Told | null, now: FactsNow): Telling {
  if (!told) return { tell: true, because: "first" };
  if (now.settledBytes <= told.settledBytes) return { tell: true, because: "withdrawn" };
  if (now.group) return { tell: true, because: "group" };
  if (now.where !== told.where) return { tell: true, because: "elsewhere" };
  if (now.attachments > 0) return { tell: true, because: "attachments" };
  if (now.lookalike) return { tell: true, because: "lookalike" };
  const later = now.at - told.at >= FACTS_AGAIN_MS || now.at < told.at || now.day !== told.day;
  return later ? { tell: true, because: "later" } : { tell: false, because: "known" };
}

function factsOf(
  { entries, role, sessionFile }: Batch,
  now: number,
  { time, zone }: { readonly time: string; readonly zone: string },
): FactsNow {
  const [first] = entries;
  const { channel = "", account = "", chat = "", thread = "" } = first?.message.address ?? {};
  return {
    at: now,
    day: time.slice(0, "2026-01-31".length),
    where: JSON.stringify([channel, account, chat, thread, first?.message.sender.principal, role, zone]),
    settledBytes: sessionFile.settledBytes,
    group: first?.message.scope === "group",
    attachments: entries.reduce((sum, { message }) => sum + message.attachments.length, 0),
    lookalike: entries.some(({ message }) => hasMarks(withQuoted(message.text, message.quoted))),
  };
}

function linesOf({ entries, role }: Batch, time: string): readonly string[] {
  const [first] = entries;
  const group = first?.message.scope === "group";
  return [
    `time: ${time}`,
    `channel: ${oneLine(first?.message.address.channel ?? "")}${group ? ", in a group" : ""}`,
    ...(group && first ? [`from: "${oneLine(first.message.sender.name)}" (${role})`] : []),
  ];
}

/** The ids under which tools take what people said; nothing of what nobody said, or what is shown in short. */
export function messageLines(entries: Batch["entries"]): readonly string[] {
  const ids = entries.filter(({ message, overflow }) => !overflow && (message.origin ?? "chat") === "chat");
  if (ids.length === 0) return [];
  return [`${ids.length === 1 ? "message" : "messages"}: ${ids.map(({ id }) => id).join(", ")}`];
}

/** Why nobody said this; nothing when somebody did. */
function causeOf({ entries: [first] }: Batch): readonly string[] {
  const { origin = "chat", sender, address } = first?.message ?? {};
  if (origin === "heartbeat") return ["heartbeat: now"];
  if (origin === "reaction")
    return ["woken by: a reaction to your message, nobody wrote anything; say something only if it asks for an answer"];
  const name = oneLine(sender?.name ?? "");
  if (origin === "webhook" && address?.channel === "hook")
    return [`hook: ${name}, what it sent is in a block of its own below; deal with it, your answer goes to the person`];
  return origin === "cron" && address?.channel === "cron" ? [`job: ${name}`] : [];
}

interface Calendar {
  /** `2026-01-31T14:03+01:00`. */
  time(ms: number): string;
  weekday(ms: number): string;
}

/** Made once: a formatter costs more to make than all it will ever format in a turn. */
export function createCalendar(zone: string): Calendar {
  const clock = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "longOffset",
  });
  const weekdays = new Intl.DateTimeFormat("en-US", { timeZone: zone, weekday: "long" });
  const format = (ms: number): string => {
    const parts = clock.formatToParts(ms);
    const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? "";
    const offset = of("timeZoneName").replace("GMT", "") || "+00:00";
    return `${of("year")}-${of("month")}-${of("day")}T${of("hour")}:${of("minute")}${offset}`;
  };
  let last = { minute: Number.NaN, text: "" }; // every turn of a minute asks for the same
  return {
    time(ms) {
      const minute = Math.floor(ms / MINUTE_MS);
      if (minute !== last.minute) last = { minute, text: format(ms) };
      return last.text;
    },
    weekday: (ms) => weekdays.format(ms),
  };
}
