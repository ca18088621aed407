/** The logger that every part gets. Messages are constant, values are fields; the sink (observe/log.ts) redacts and writes. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
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
