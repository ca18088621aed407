/** The fenced blocks of README.md and the pages in docs/, with the marks that say how a block is checked. Reads files, runs nothing. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export interface Block {
  /** "docs/http.md" */
  readonly page: string;
  /** Of its first line of text. */
  readonly line: number;
  /** "sh", "jsonc", …; empty when none is given. */
  readonly language: string;
  readonly text: string;
  /** Why it is not run, from a comment `<!-- not run: reason -->` before it; null: it is run. */
  readonly notRun: string | null;
  /** Marked with `<!-- settings -->`: the configuration file that the commands of its page are run with. */
  readonly isSettings: boolean;
  /** Marked with `<!-- starts -->`: it starts the gateway, and runs until it is stopped. */
  readonly isStart: boolean;
  /** Marked with `<!-- output -->`: what the commands of the block before it print. */
  readonly isOutput: boolean;
}

export const PROJECT = resolve(import.meta.dir, "../..");
const FENCE = /^```(\w*)\s*$/;
const NOT_RUN = /^<!-- not run: (.+) -->$/;
const SETTINGS = "<!-- settings -->";
const OUTPUT = "<!-- output -->";
const STARTS = "<!-- starts -->";

/** What a newcomer reads: on these every command is run, and everything that it prints is on the page. */
export const MAIN_PAGES: readonly string[] = [
  "README.md",
  ...["cli", "config", "backup", "service", "automation", "http"].map((name) => `docs/${name}.md`),
];

export function pages(): readonly string[] {
  const docs = readdirSync(join(PROJECT, "docs")).filter((name) => name.endsWith(".md"));
  return ["README.md", ...docs.toSorted().map((name) => `docs/${name}`)];
}

export function blocksOf(page: string): readonly Block[] {
  return blocksIn(page, readFileSync(join(PROJECT, page), "utf8"));
}

/** Marks stand in the lines right above the fence, empty lines aside. */
export function blocksIn(page: string, markdown: string): readonly Block[] {
  const found: Block[] = [];
  const lines = markdown.split("\n");
  let marks: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = (lines[at] ?? "").trim();
    const language = FENCE.exec(line)?.[1];
    if (language === undefined) {
      if (line.startsWith("<!--")) marks.push(line);
      else if (line !== "") marks = [];
      continue;
    }
    const end = lines.findIndex((other, index) => index > at && other.trim() === "```");
    const text = lines.slice(at + 1, end).join("\n");
    const notRun = marks.flatMap((mark) => NOT_RUN.exec(mark)?.[1] ?? [])[0] ?? null;
    const isOutput = marks.includes(OUTPUT);
    const isSettings = marks.includes(SETTINGS);
    found.push({ page, line: at + 2, language, text, notRun, isSettings, isStart: marks.includes(STARTS), isOutput });
    marks = [];
    at = end;
  }
  return found;
}
