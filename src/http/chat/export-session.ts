/** A conversation as a file to keep: Markdown, JSON or one HTML page without scripts. Whatever people or models wrote is text in it, never markup. */
import type { SessionSummary, TranscriptItem } from "../../contracts/chat.ts";
import type { SessionExport } from "../../contracts/http-api.ts";
import type { HttpDeps } from "../types.ts";

export const EXPORT_FORMATS = ["markdown", "json", "html"] as const;
type ExportFormat = (typeof EXPORT_FORMATS)[number];

const PAGE_ITEMS = 200;
/** The newest of them; the file says when there were more. */
const MAX_ITEMS = 20_000;
const MAX_NAME_CHARS = 60;

const FILES: Readonly<Record<ExportFormat, { readonly ending: string; readonly mimeType: string }>> = {
  markdown: { ending: "md", mimeType: "text/markdown" },
  json: { ending: "json", mimeType: "application/json" },
  html: { ending: "html", mimeType: "text/html" },
};

interface Conversation {
  readonly session: SessionSummary;
  readonly items: readonly TranscriptItem[];
  readonly cut: boolean;
}

export async function exportSession(
  { store }: Pick<HttpDeps, "store">,
  session: SessionSummary,
  format: ExportFormat,
): Promise<SessionExport> {
  const conversation = { session, ...(await allItems(store, session)) };
  const { ending, mimeType } = FILES[format];
  const text = { markdown: markdownOf, json: jsonText, html: htmlOf }[format](conversation);
  return { name: `${fileName(session.title)}.${ending}`, mimeType, text };
}

async function allItems(store: HttpDeps["store"], { key }: SessionSummary) {
  let items: readonly TranscriptItem[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.sessions.transcript(key, {
      limit: PAGE_ITEMS,
      ...(cursor === undefined ? {} : { cursor }),
    });
    items = [...page.items, ...items];
    cursor = page.next;
  } while (cursor !== undefined && items.length < MAX_ITEMS);
  return { items: items.slice(-MAX_ITEMS), cut: cursor !== undefined || items.length > MAX_ITEMS };
}

function fileName(title: string): string {
  const name = title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "");
  return name.slice(0, MAX_NAME_CHARS) || "conversation";
}

const CUT = `Only the newest ${MAX_ITEMS} entries are in this file.`;

function jsonText(conversation: Conversation): string {
  return `${JSON.stringify(conversation, null, 2)}\n`;
}

/** Quoted line by line, so that no text looks like a heading of the file. */
function markdownOf({ session, items, cut }: Conversation): string {
  const quoted = (text: string) => text.split("\n").map((line) => `> ${line}`.trimEnd());
  const entries = items.map((item) => [`## ${speakerOf(item)}, ${timeOf(item)}`, "", ...quoted(textOf(item)), ""]);
  const head = [
    `# ${session.title.replaceAll("\n", " ")}`,
    "",
    `Session \`${session.key}\``,
    "",
    ...(cut ? [CUT, ""] : []),
  ];
  return [...head, ...entries.flat()].join("\n");
}

function htmlOf({ session, items, cut }: Conversation): string {
  const entries = items.map(
    (item) =>
      `<section class="${item.role}"><h2>${escaped(speakerOf(item))} <time>${timeOf(item)}</time></h2><div dir="auto">${escaped(textOf(item))}</div></section>`,
  );
  return [
    "<!doctype html>",
    `<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(session.title)}</title>`,
    "<style>body{font:1rem/1.6 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}h2{font-size:.875rem;margin:1.5rem 0 .25rem}time{font-weight:400;opacity:.7}div{white-space:pre-wrap;overflow-wrap:anywhere}.tool div{font-family:monospace;font-size:.875rem}</style></head>",
    `<body><h1 dir="auto">${escaped(session.title)}</h1>${cut ? `<p>${CUT}</p>` : ""}`,
    ...entries,
    "</body></html>",
    "",
  ].join("\n");
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (found) => ESCAPES[found] ?? found);
}

function speakerOf({ role, sender, tool, kind, status }: TranscriptItem): string {
  if (role === "tool") return `Tool ${tool ?? ""} (${status ?? "unknown"})`;
  if (role === "user") return sender?.name ?? "You";
  return kind === "notice" ? "Gateway" : "Assistant";
}

function timeOf({ at }: TranscriptItem): string {
  return new Date(at).toISOString();
}

function textOf({ role, text, input, output, attachments = [] }: TranscriptItem): string {
  if (role === "tool") return [JSON.stringify(input, null, 2) ?? "", output ?? ""].join("\n");
  return [text, ...attachments.map(({ name }) => `[file: ${name}]`)].filter((line) => line !== "").join("\n");
}
