/** One turn as Markdown. Everything people or models said is quoted line by line, so that no text can look like the record itself. */
import type { GatewayEvents } from "../../contracts/events.ts";
import { visible, visibleLines } from "../visible.ts";

interface ToolLine {
  readonly tool: string;
  readonly status: string;
  readonly ms?: number;
}

/** Something a person was asked in the middle of a turn. */
interface AskedLine {
  readonly asked: string;
  readonly end: string;
}

export type TurnLine = ToolLine | AskedLine;

const MAX_TEXT_CHARS = 50_000;
const MAX_NAME_CHARS = 100;

export function turnEntry(
  record: GatewayEvents["turn.recorded"],
  lines: readonly TurnLine[],
  scrub: (text: string) => string,
): string {
  const name = (text: string) => visible(scrub(text)).slice(0, MAX_NAME_CHARS);
  const { usage, model, outcome, ms } = record;
  const asked = record.said.map(({ at, name: who, principal, text, attachments }) =>
    [
      `**${name(who)}** (${name(principal)}, ${record.role}), ${clockTime(at)}`,
      quoted(text, scrub),
      ...(attachments.length > 0 ? [`Attached: ${attachments.map(name).join(", ")}`] : []),
    ].join("\n\n"),
  );
  const used = lines.map((line) =>
    "asked" in line
      ? `- asked \`${name(line.asked)}\`: ${name(line.end)}`
      : `- \`${name(line.tool)}\` ${line.status}${line.ms === undefined ? "" : `, ${Math.round(line.ms)} ms`}`,
  );
  const answered = record.reply.map(
    ({ kind, text }) => `**${kind === "notice" ? "Gateway" : "Assistant"}**\n\n${quoted(text, scrub)}`,
  );
  const spent = `${usage.inputTokens} tokens in, ${usage.outputTokens} out, $${usage.costUsd.toFixed(4)}`;
  const [first] = record.said;
  return [
    `## ${new Date(first?.at ?? 0).toISOString()}, ${record.turnId}`,
    ...asked,
    ...(used.length > 0 ? [used.join("\n")] : []),
    ...answered,
    `${outcome} after ${ms} ms${model === "" ? "" : `, ${name(model)}`}, ${spent}`,
  ]
    .join("\n\n")
    .concat("\n\n");
}

/** Scrubbed before it is cut and taken apart: some secrets have several lines, and nothing knows the half of one. */
function quoted(text: string, scrub: (text: string) => string): string {
  const clean = scrub(text);
  const cut = clean.length > MAX_TEXT_CHARS;
  const shown = cut ? clean.slice(0, MAX_TEXT_CHARS).toWellFormed() : clean;
  const lines = visibleLines(shown).split("\n");
  if (cut) lines.push(`… (${text.length} characters)`);
  return lines.map((line) => `> ${line}`.trimEnd()).join("\n");
}

function clockTime(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}
