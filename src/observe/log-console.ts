/** Where a person sees the log while the gateway runs: readable lines, a coloured form for terminals, or the JSON itself. */
import { formatLogRecord, parseLogLine } from "./log-text.ts";
import { visible } from "./visible.ts";

export type ConsoleStyle = "pretty" | "plain" | "json" | "off";
export type LineFormatter = (line: string) => string;

/** The pretty printer is loaded only when somebody looks at it. */
export async function consoleFormatter(style: ConsoleStyle, colour: boolean): Promise<LineFormatter | null> {
  if (style === "off") return null;
  if (style === "json") return (line) => `${line}\n`;
  if (style === "plain") return plainLine;
  const { prettyFactory } = await import("pino-pretty");
  const pretty = prettyFactory({
    colorize: colour,
    singleLine: true,
    translateTime: "SYS:HH:MM:ss.l",
    errorLikeObjectKeys: ["error"],
    customColors: "debug:gray,info:green,warn:yellow,error:red",
  });
  // The printer shows strings as they are, so what could disturb a terminal is made visible before it sees them.
  return (line) =>
    pretty(JSON.parse(line, (_key, value: unknown) => (typeof value === "string" ? seen(value) : value)));
}

function plainLine(line: string): string {
  const record = parseLogLine(line);
  return `${record ? formatLogRecord(record, false) : visible(line)}\n`;
}

/** Line breaks stay: stacks have them, and the printer indents them. */
function seen(text: string): string {
  return text.split("\n").map(visible).join("\n");
}
