/** Words that the glossary replaces, in names and comments. A stranger searches for the common word, so a second one for the same thing hides it. */
import type { Source } from "./house-source.ts";

export interface ReplacedWord {
  readonly pattern: RegExp;
  /** The word of docs/glossary.md. */
  readonly use: string;
  /** Only in these files; absent: everywhere. */
  readonly files?: RegExp;
}

/** Where "the page" can only mean the web console; elsewhere it is a page of the web, or of a list. */
const CONSOLE_FILES = /^(?:console|src\/http|src\/cli|src\/observe|src\/channels\/webchat)\//;

export const REPLACED_WORDS: readonly ReplacedWord[] = [
  { pattern: /\blook(?:s|ed|ing)? around\b|\bpulses?\b/i, use: "heartbeat" },
  { pattern: /\bsigns? under\b/i, use: "reaction" },
  { pattern: /\bthe books\b/i, use: "usage ledger" },
  { pattern: /\bhook points?\b|hookPoint/i, use: "plugin hook" },
  { pattern: /\bown tools\b|\bownTools?\b/, use: "built-in tools, or pi tools" },
  { pattern: /\bturn(?:ed|s|ing)? away\b|turnedAway/i, use: "reject" },
  { pattern: /\bt(?:ake|akes|aken|ook|aking) back\b|takeBack/i, use: "cancel, withdraw or remove" },
  { pattern: /\bsa(?:y|ys|id) into\b/i, use: "steer" },
  { pattern: /\b(?:earlier|next|last|this) li(?:fe|ves)\b/i, use: "previous process, after a restart" },
  { pattern: /\bshel(?:f|ves)\b|Shelf\b/, use: "registry, or what is in it" },
  { pattern: /\bdesks?\b|Desk\b/, use: "what it is for: an API, a directory" },
  { pattern: /\blent\b|\blends?\b/, use: "given, services" },
  { pattern: /\b(?:is|was|be|are|were) let in\b|\bcome in by\b/i, use: "access" },
  { pattern: /\bwhoever runs\b/i, use: "supervisor" },
  { pattern: /\bthe page\b|-page\.tsx?\b/i, use: "web console", files: CONSOLE_FILES },
  { pattern: /\b(?:chat-?|message-?)?rests?Until\b|chat-rests|\bat rest\b/, use: "cooldown, paused" },
];

/** File names that say nothing to who searches. */
const SILENT_FILES = /(?:^|\/)(?:words|facts|desk|way|ways|home|place|places|shelf|rests)\.tsx?$/;

export function replacedWords(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => /^(?:src|bridge|console)\//.test(path) && !path.startsWith("src/store/migrations/"))
    .flatMap((file) => [...inText(file), ...inName(file)]);
}

function inText({ path, text }: Source): string[] {
  const words = REPLACED_WORDS.filter(({ files }) => files?.test(path) ?? true);
  return text.split("\n").flatMap((line, at) =>
    words.flatMap(({ pattern, use }) => {
      const [found] = pattern.exec(line) ?? [];
      return found === undefined ? [] : [`${path}:${at + 1} says "${found}"; the glossary says ${use}`];
    }),
  );
}

function inName({ path }: Source): string[] {
  return SILENT_FILES.test(path) ? [`${path} has a name that nobody would search for; name what is in it`] : [];
}
