/** Which tool a plain request means to the demo model. A real model understands; this one compares. */
interface DemoRequest {
  readonly tool: string;
  readonly input: Readonly<Record<string, string>>;
}

interface Phrase {
  readonly pattern: RegExp;
  request(rest: string): DemoRequest;
}

const MAX_TITLE_CHARS = 60;
/** Where the demo model puts the picture that it sends. */
export const CHART = "demo-chart.png";

/** The first that fits wins; what follows a request is taken as it was written. */
const PHRASES: readonly Phrase[] = [
  { pattern: /^note\s*:\s*([\s\S]+)$/i, request: note },
  { pattern: /^(?:save|take|make) (?:a |this )?note\b[\s:,]*(?:that )?([\s\S]+)$/i, request: note },
  {
    pattern: /^(?:search|find|look) (?:in |through )?my notes(?: for)?\b[\s:,]*([\s\S]+)$/i,
    request: (query) => ({ tool: "search_notes", input: { query } }),
  },
  { pattern: /^(?:add|new) (?:a |the )?(?:task|to-?do)\b[\s:,]*(?:to )?([\s\S]+)$/i, request: task },
  { pattern: /^add ([\s\S]+) to my (?:tasks|task list|to-?dos?)\W*$/i, request: task },
  {
    pattern: /^(?:what are|what's on|show|list)(?: me)? my (?:tasks|task list|to-?dos?)\b()/i,
    request: () => ({ tool: "list_tasks", input: {} }),
  },
  { pattern: /^(?:remind me\b|(?:set|create) a reminder\b)([\s\S]*)$/i, request: reminder },
  {
    pattern: /^send me (?:a|an|the) (?:chart|file|picture|image|diagram)\b()/i,
    request: () => ({ tool: "send_media", input: { path: CHART, caption: "A chart, drawn by the demo model." } }),
  },
  {
    pattern: /^(?:search the web|web search)(?: for)?\b[\s:,]*([\s\S]+)$/i,
    request: (query) => ({ tool: "web_search", input: { query } }),
  },
  {
    pattern: /^(?:open|read|fetch) (?:the )?(?:page |site )?(https?:\/\/\S+)$/i,
    request: (url) => ({ tool: "web_fetch", input: { url } }),
  },
  { pattern: /^(?:list|show)(?: me)?(?: the| my)? files\b()/i, request: () => ({ tool: "ls", input: { path: "." } }) },
  { pattern: /^run\s*:\s*([\s\S]+)$/i, request: (command) => ({ tool: "bash", input: { command } }) },
  { pattern: /^write (?:a |the )?file ([\s\S]+)$/i, request: file },
  // any sentence about the status, such as "What is your status?"
  {
    pattern: /^(?:[^.!?\n]{0,80}\bstatus\b[^.!?\n]{0,80}|how are you(?: doing)?)[\s.!?]*()$/i,
    request: () => ({ tool: "session_status", input: {} }),
  },
];

export function demoRequest(text: string): DemoRequest | null {
  for (const { pattern, request } of PHRASES) {
    const found = pattern.exec(text.trim());
    if (found) return request((found[1] ?? "").trim());
  }
  return null;
}

/** `hello.txt: some words`. */
function file(rest: string): DemoRequest {
  const [, path = rest, content = ""] = /^([^\s:]+)\s*:\s*([\s\S]*)$/.exec(rest) ?? [];
  return { tool: "write", input: { path, content: `${content}\n` } };
}

function note(content: string): DemoRequest {
  const [line = ""] = content.split("\n");
  const title = line.length > MAX_TITLE_CHARS ? `${line.slice(0, MAX_TITLE_CHARS)}…` : line;
  return { tool: "save_note", input: { title, content } };
}

const WHEN = /\bin (?:\d{1,6}|an?|one) ?[a-z]+\b/i;

/** "in 5 seconds to stretch": when, and what is left. Without a time it is an hour from now. */
function reminder(rest: string): DemoRequest {
  const when = WHEN.exec(rest)?.[0] ?? "in 1 hour";
  const text = rest
    .replace(WHEN, " ")
    .trim()
    .replace(/^(?:to|that|about|of|for me to)\s+/i, "")
    .replace(/[.!]+$/, "");
  return { tool: "create_reminder", input: { text: text || "what you wanted", when } };
}

function task(title: string): DemoRequest {
  return { tool: "add_task", input: { title: title.replace(/[.!]+$/, "") } };
}

/** A tool of a program, as far as the demo model understands it. */
export interface ProgramTool {
  readonly name: string;
  /** Parameters that are texts and have to be given. */
  readonly texts: readonly string[];
}

/** Words in names of tools that say nothing about what they are for. */
const VERBS: ReadonlySet<string> = new Set([
  "get",
  "set",
  "list",
  "find",
  "search",
  "show",
  "create",
  "read",
  "fetch",
  "the",
  "a",
  "of",
]);
const ABOUT = /\b(?:in|for|of|at|about)\s+([^?.!\n]{1,200}?)[\s?.!]*$/i;

/** "What's the weather like in Oslo?" and a tool called `get_weather`: its texts are what comes after "in". */
export function programRequest(text: string, tools: readonly ProgramTool[]): DemoRequest | null {
  const said = new Set(text.toLowerCase().match(/[a-z0-9]+/g));
  const meant = tools.find(({ name }) => {
    const words = name
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter((word) => word !== "" && !VERBS.has(word));
    return words.length > 0 && words.every((word) => said.has(word));
  });
  if (!meant) return null;
  const about = ABOUT.exec(text)?.[1]?.trim() ?? text.trim();
  return { tool: meant.name, input: Object.fromEntries(meant.texts.map((name) => [name, about])) };
}
