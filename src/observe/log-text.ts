/** Log lines for people: one JSON line in, one readable line out, with nothing in it that could disturb a terminal. */
import { visible } from "./visible.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
export const LOG_LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

interface LogRecord {
  readonly level: LogLevel;
  readonly time: string;
  readonly msg: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const COLOURS: Record<LogLevel, string> = {
  debug: "\u001b[2m",
  info: "\u001b[32m",
  warn: "\u001b[33m",
  error: "\u001b[31m",
};
const PLAIN = "\u001b[0m";
const SIMPLE_VALUE = /^[A-Za-z0-9_.:/@+-]{1,200}$/;

/** Null when the line is not one of ours. */
export function parseLogLine(line: string): LogRecord | null {
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed !== "object" || parsed === null) return null;
    const { level, time, msg, ...fields } = parsed as Record<string, unknown>;
    const known = LOG_LEVELS.find((name) => name === level);
    if (!known || typeof time !== "string" || typeof msg !== "string") return null;
    return { level: known, time, msg, fields };
  } catch {
    return null; // torn by a full disk, or not written by us
  }
}

export function formatLogRecord(record: LogRecord, colour: boolean): string {
  const level = record.level.padEnd(5);
  const head = colour ? `${COLOURS[record.level]}${level}${PLAIN}` : level;
  const parts = Object.entries(record.fields).map(([key, value]) => `${visible(key)}=${valueText(value)}`);
  return [visible(record.time), head, visible(record.msg), ...parts].join(" ");
}

function valueText(value: unknown): string {
  if (typeof value === "string" && SIMPLE_VALUE.test(value)) return value;
  return visible(JSON.stringify(value) ?? "");
}
