/** Tools and questions as plain words for the index: names are split where they change from word to word. Pure. */
import type { Tool } from "../../contracts/tools/tool.ts";
import type { ToolText } from "../../contracts/tools/tool-index.ts";
import { isObject } from "../../kit/json.ts";

const MAX_DESCRIPTION_CHARS = 4_000;
const MAX_PARAMETERS = 200;
const MAX_DEPTH = 4;
const MAX_WORDS = 24;

/** Where a lower-case letter or a digit meets a capital, and where several capitals meet a word: `listIssues`, `HTTPServer`. */
const CASE_CHANGE = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const NO_WORD = /[^\p{L}\p{N}]+/u;

type ToolWords = Pick<Tool, "name" | "label" | "description" | "parameters">;

/** `plugin`: a model that knows where a tool comes from looks for that. */
export function toolText({ name, label, description, parameters }: ToolWords, plugin: string): ToolText {
  const names = parameterNames(parameters).flatMap(nameWords);
  return {
    name: nameWords(name).join(" "),
    label: label === name ? plugin : `${label} ${plugin}`,
    description: description.slice(0, MAX_DESCRIPTION_CHARS),
    parameters: [...new Set(names)].join(" "),
  };
}

/**
 * `gmail_sendMessage` is gmail, sendMessage, send, message. Neighbours are there as one word too: `createGitHubIssue` is to be found by
 * "github".
 */
function nameWords(name: string): readonly string[] {
  return name.split(NO_WORD).flatMap((part) => {
    const words = part.split(CASE_CHANGE);
    if (words.length < 2) return part === "" ? [] : [part];
    const pairs = words.slice(1).map((word, at) => `${words[at]}${word}`);
    return [...new Set([part, ...words, ...pairs])];
  });
}

/** Of all objects in it, the outer ones first. */
function parameterNames(schema: unknown): readonly string[] {
  const names: string[] = [];
  const look = (part: unknown, depth: number): void => {
    if (depth > MAX_DEPTH || !isObject(part) || names.length >= MAX_PARAMETERS) return;
    const properties = isObject(part["properties"]) ? Object.entries(part["properties"]) : [];
    names.push(...properties.map(([name]) => name));
    for (const [, inner] of properties) look(inner, depth + 1);
    look(part["items"], depth + 1);
  };
  look(schema, 0);
  return names.slice(0, MAX_PARAMETERS);
}

/** The words of a question, each once. */
export function queryWords(query: string): readonly string[] {
  const words = query
    .normalize("NFC") // an accent by itself would end a word
    .split(NO_WORD)
    .flatMap((part) => [part, ...part.split(CASE_CHANGE)])
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
  return [...new Set(words)].slice(0, MAX_WORDS);
}
