/** A log that remembers what was said, for tests that care about it. Writes nothing. */
import type { Log, LogFields } from "../kit/log.ts";

interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly words: string;
  readonly fields: LogFields;
}

export interface RecordingLog extends Log {
  /** Everything said so far, children included, oldest first. */
  readonly lines: readonly LogLine[];
}

export function recordingLog(): RecordingLog {
  const lines: LogLine[] = [];
  return { ...speaker(lines, {}), lines };
}

function speaker(lines: LogLine[], base: LogFields): Log {
  const say = (level: LogLine["level"]) => (words: string, fields?: LogFields) => {
    lines.push({ level, words, fields: { ...base, ...fields } });
  };
  return {
    debug: say("debug"),
    info: say("info"),
    warn: say("warn"),
    error: say("error"),
    child: (fields) => speaker(lines, { ...base, ...fields }),
  };
}
