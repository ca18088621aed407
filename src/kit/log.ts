/** What every part may say. Words are constant, values are fields; the sink (observe/log.ts) redacts and writes. */
export interface Log {
  debug(words: string, fields?: LogFields): void;
  info(words: string, fields?: LogFields): void;
  warn(words: string, fields?: LogFields): void;
  error(words: string, fields?: LogFields): void;
  /** A logger that adds these fields to everything it says. */
  child(fields: LogFields): Log;
}

export type LogFields = Readonly<Record<string, unknown>>;

export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
};
