/**
 * A readable record of each session, written from events alone. It can only lose: what does not fit into the buffer or onto the disk is
 * missing from the record, and no turn waits for it or fails because of it.
 */
import { join } from "node:path";
import type { Events, GatewayEvents } from "../../contracts/events.ts";
import type { SessionKey, TurnId } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import { dayOf } from "../log-files.ts";
import { makeFolder } from "../private-files.ts";
import { visible } from "../visible.ts";
import { type TurnLine, turnEntry } from "./entry.ts";
import {
  fileNames,
  makeRoom,
  removeExpired,
  removeFiles,
  type TranscriptDisk,
  transcriptDisk,
  transcriptName,
} from "./files.ts";

export interface TranscriptDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  /** Takes secrets out of a text. */
  scrub(text: string): string;
  /** Only tests give another one. */
  readonly disk?: TranscriptDisk;
}

export interface TranscriptSettings {
  readonly enabled: boolean;
  readonly maxMb: number;
  readonly keep: number;
  readonly retentionDays: number;
}

const MB_BYTES = 1_048_576;
/** What waits to be written, at most; more is written at once. */
const MAX_WAITING_CHARS = 1_048_576;
const FLUSH_AFTER_MS = 200;
const MAX_TURNS = 1_000;
const MAX_TOOLS = 200;

interface Waiting {
  readonly key: SessionKey;
  readonly text: string;
}

/** The settings are asked for each turn, so that a change holds from the next one on. */
export function startTranscripts(
  deps: TranscriptDeps,
  folder: string,
  settings: () => TranscriptSettings,
): AsyncDisposable {
  const disk = deps.disk ?? transcriptDisk;
  const sweep = createSweep({ clock: deps.clock, disk }, folder, settings);
  const tools = createToolLines();
  const stopping = new AbortController();
  let waiting: Waiting[] = [];
  let chars = 0;
  let planned = false;

  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    chars = 0;
    for (const { key, text } of joined(batch)) {
      try {
        append({ disk, folder, ...settings() }, key, text);
      } catch (error) {
        deps.log.warn("transcript could not be written; a part of it is missing", { error });
      }
    }
  };
  const flushSoon = (): void => {
    if (planned) return;
    planned = true;
    deps.clock.sleep(FLUSH_AFTER_MS, stopping.signal).then(
      () => {
        planned = false;
        flush();
        sweep();
      },
      () => undefined, // stopping: what waits is written then
    );
  };
  const record = (turn: GatewayEvents["turn.recorded"]): void => {
    const used = tools.take(turn.turnId);
    if (!settings().enabled) return sweep();
    const text = turnEntry(turn, used, deps.scrub);
    waiting.push({ key: turn.sessionKey, text });
    chars += text.length;
    if (chars >= MAX_WAITING_CHARS) flush();
    else flushSoon();
  };

  sweep();
  const listening = [
    deps.events.on("turn.started", ({ turnId }) => tools.forget(turnId)),
    deps.events.on("turn.tool", (data) => tools.note(data)),
    deps.events.on("question", (news) => tools.asked(news)),
    deps.events.on("turn.recorded", record),
    deps.events.on("session.deleted", ({ sessionKey }) => {
      waiting = waiting.filter(({ key }) => key !== sessionKey);
      removeTranscript({ log: deps.log, disk }, folder, sessionKey);
    }),
  ];
  return {
    async [Symbol.asyncDispose]() {
      for (const one of listening) one[Symbol.dispose]();
      stopping.abort();
      flush();
    },
  };
}

/** Once a day, also while transcripts are switched off: what is there still grows old. */
function createSweep(
  { clock, disk }: Pick<TranscriptDeps, "clock"> & { readonly disk: TranscriptDisk },
  folder: string,
  settings: () => TranscriptSettings,
): () => void {
  let sweptOn = "";
  return () => {
    const day = dayOf(clock.now());
    if (day === sweptOn) return;
    sweptOn = day;
    removeExpired(disk, folder, clock.now(), settings().retentionDays);
  };
}

function removeTranscript(
  { log, disk }: Pick<TranscriptDeps, "log"> & { readonly disk: TranscriptDisk },
  folder: string,
  key: SessionKey,
): void {
  try {
    removeFiles(disk, folder, transcriptName(key));
  } catch (error) {
    log.warn("transcript of a deleted session could not be removed", { error });
  }
}

interface TranscriptFolder extends TranscriptSettings {
  readonly disk: TranscriptDisk;
  readonly folder: string;
}

function append(target: TranscriptFolder, key: SessionKey, text: string): void {
  makeFolder(target.folder);
  const data = Buffer.from(text, "utf8");
  const file = openWithRoom(target, fileNames(transcriptName(key), target.keep), data.length);
  try {
    const head = Buffer.from(file.bytes === 0 ? `# ${visible(key)}\n\n` : "", "utf8");
    writeAll(target.disk, file.fd, Buffer.concat([head, data]));
  } finally {
    target.disk.close(file.fd);
  }
}

function openWithRoom({ disk, folder, maxMb }: TranscriptFolder, names: readonly string[], more: number) {
  const path = join(folder, names[0] ?? "");
  const file = disk.open(path);
  if (file.bytes === 0 || file.bytes + more <= maxMb * MB_BYTES) return file;
  disk.close(file.fd);
  makeRoom(disk, folder, names);
  return disk.open(path);
}

function writeAll(disk: TranscriptDisk, fd: number, data: Uint8Array): void {
  for (let done = 0; done < data.length;) {
    const taken = disk.write(fd, data.subarray(done));
    if (taken <= 0) throw new Error("the disk took nothing");
    done += taken;
  }
}

/** One write for all that waits for the same session. */
function joined(batch: readonly Waiting[]): readonly Waiting[] {
  const texts = new Map<SessionKey, string>();
  for (const { key, text } of batch) texts.set(key, (texts.get(key) ?? "") + text);
  return [...texts].map(([key, text]) => ({ key, text }));
}

interface ToolLines {
  note(data: GatewayEvents["turn.tool"]): void;
  /** What a person was asked, once it has an end. */
  asked(news: GatewayEvents["question"]): void;
  /** Another attempt begins: what the last one called did not lead to the answer. */
  forget(turnId: TurnId): void;
  take(turnId: TurnId): readonly TurnLine[];
}

/** What tools did in turns that have not ended. Bounded: of too many turns the oldest, of too many calls the latest are left out. */
function createToolLines(): ToolLines {
  const byTurn = new Map<TurnId, Map<string, TurnLine>>();
  const linesOf = (turnId: TurnId): Map<string, TurnLine> => {
    const known = byTurn.get(turnId);
    if (known) return known;
    const [oldest] = byTurn.keys();
    if (byTurn.size >= MAX_TURNS && oldest !== undefined) byTurn.delete(oldest);
    const fresh = new Map<string, TurnLine>();
    byTurn.set(turnId, fresh);
    return fresh;
  };
  return {
    note({ turnId, callId, tool, status, ms }) {
      const lines = linesOf(turnId);
      if (!lines.has(callId) && lines.size >= MAX_TOOLS) return;
      lines.set(callId, { tool, status, ...(ms === undefined ? {} : { ms }) });
    },
    asked({ id, turnId, question, end }) {
      const lines = linesOf(turnId);
      if (end && lines.size < MAX_TOOLS) lines.set(id, { asked: question.title, end: end.because });
    },
    forget: (turnId) => void byTurn.delete(turnId),
    take(turnId) {
      const lines = [...(byTurn.get(turnId)?.values() ?? [])];
      byTurn.delete(turnId);
      return lines;
    },
  };
}
