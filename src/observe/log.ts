/**
 * The gateway's log: every line is scrubbed of secrets, capped, one line of JSON, and never a reason for the gateway to stop or wait.
 * Goes to files in the state directory and to stderr; stdout belongs to the ready line.
 */
import type { Logger } from "pino";
import type { Clock } from "../kit/clock.ts";
import type { Log, LogFields } from "../kit/log.ts";
import { tidyFields, tidyText } from "./fields.ts";
import { type ConsoleStyle, consoleFormatter, type LineFormatter } from "./log-console.ts";
import { finishLine } from "./log-line.ts";
import type { LogLevel } from "./log-text.ts";
import { type LogWriter, openLogWriter } from "./log-writer.ts";
import { type FileDisk, systemDisk } from "./private-files.ts";
import type { Redactor } from "./redaction/redact.ts";
import { createRepeats, type Repeats } from "./repeats.ts";

interface LogDeps {
  readonly clock: Clock;
  readonly redactor: Redactor;
  /** Where console lines go; a process gives its stderr. */
  stderr(text: string): void;
  /** Only tests give another one. */
  readonly disk?: FileDisk;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** The folder for log files; null writes none. */
  readonly folder: string | null;
  readonly retentionDays: number;
  readonly console: ConsoleStyle;
  readonly colour: boolean;
  readonly maxFileBytes?: number;
}

interface LogSink extends AsyncDisposable {
  readonly log: Log;
  /** The settings are others now. Files that cannot be opened are said in the log, and the ones before stay. */
  configure(settings: Pick<LogOptions, "level" | "folder" | "retentionDays">): void;
  /** Writes what still waits in the buffer. */
  flush(): void;
  /** Lines that could not be written. */
  lost(): number;
}

const DEFAULT_MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_WORDS_CHARS = 500;

export async function openLog(deps: LogDeps, options: LogOptions): Promise<LogSink> {
  const { pino } = await import("pino"); // here, because commands that only read the log must not pay for it
  const format = await consoleFormatter(options.console, options.colour);
  let writer: LogWriter | null = null;
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${new Date(deps.clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (json: string) => deliver(deps, finishLine(json), writer, format) },
  );
  writer = options.folder === null ? null : openFiles(deps, options, options.folder);
  let current = options;
  let lostBefore = 0;
  const flush = (): void => writer?.flush();
  /** The new files are open before the old ones are closed, so that no line is lost in between. */
  const replaceFiles = (next: LogOptions): void => {
    const old = writer;
    writer = next.folder === null ? null : openFiles(deps, next, next.folder);
    current = next;
    old?.[Symbol.dispose]();
    lostBefore += old?.lost() ?? 0;
  };

  const repeats = createRepeats(deps, (words, heldBack) => {
    logger.warn({ words: tidyText(words, deps.redactor.scrub), heldBack }, "the same log line came too often");
  });
  const log = speaker({ ...deps, logger, repeats, flush }, {});
  return {
    log,
    configure({ level, folder, retentionDays }) {
      logger.level = level;
      if (folder === current.folder && retentionDays === current.retentionDays) return;
      try {
        replaceFiles({ ...current, folder, retentionDays });
      } catch (error) {
        log.error("log files could not be opened; the settings of before stay", { error });
      }
    },
    flush,
    lost: () => lostBefore + (writer?.lost() ?? 0),
    async [Symbol.asyncDispose]() {
      repeats[Symbol.dispose]();
      writer?.[Symbol.dispose]();
      lostBefore += writer?.lost() ?? 0;
      writer = null; // what is said after this still reaches the console
    },
  };
}

function openFiles(deps: LogDeps, options: LogOptions, folder: string): LogWriter {
  return openLogWriter(
    { clock: deps.clock, disk: deps.disk ?? systemDisk },
    {
      folder,
      retentionDays: options.retentionDays,
      maxFileBytes: options.maxFileBytes ?? DEFAULT_MAX_FILE_BYTES,
      lostLine: (lines) =>
        JSON.stringify({
          level: "warn",
          time: new Date(deps.clock.now()).toISOString(),
          msg: "log lines were lost because they could not be written",
          lines,
        }),
    },
  );
}

interface Voice {
  readonly logger: Logger;
  readonly redactor: Redactor;
  readonly repeats: Repeats;
  flush(): void;
}

/** Children are ours, not pino's: their fields pass the same scrubbing on every line, and no key appears twice. */
function speaker(voice: Voice, base: LogFields): Log {
  const { logger, redactor, repeats } = voice;
  const tidied = (own: LogFields, given: LogFields | undefined): Record<string, unknown> => {
    try {
      return tidyFields({ ...own, ...given }, redactor.scrub);
    } catch {
      return { fields: "(unreadable)" }; // what a caller shows the log must not make the log fail
    }
  };
  const say = (level: LogLevel, words: string, fields: LogFields | undefined): void => {
    if (!logger.isLevelEnabled(level) || !repeats.admit(words)) return;
    const text = tidyText(words, redactor.scrub).slice(0, MAX_WORDS_CHARS);
    logger[level](tidied(base, fields), text);
    if (level === "warn" || level === "error") voice.flush();
  };
  return {
    debug: (words, fields) => say("debug", words, fields),
    info: (words, fields) => say("info", words, fields),
    warn: (words, fields) => say("warn", words, fields),
    error: (words, fields) => say("error", words, fields),
    child: (fields) => speaker(voice, { ...base, ...fields }),
  };
}

function deliver(deps: LogDeps, line: string, writer: LogWriter | null, format: LineFormatter | null): void {
  writer?.write(line);
  if (!format) return;
  try {
    deps.stderr(format(line));
  } catch {
    // A closed terminal is no reason to stop; the file still has the line.
  }
}
