/** Reads along while an answer streams: when its first word came, and how many tokens it says were used. Changes nothing and keeps one line. */
import { parseJson } from "../kit/json.ts";

export interface TokenCount {
  /** Without those from the provider's cache. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

interface UsageScan {
  push(chunk: Uint8Array): void;
  /** Something of the answer itself has come, and not only its head. */
  hasSpoken(): boolean;
  tokens(): TokenCount;
}

const NO_TOKENS: TokenCount = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };
/** A line with a picture in it says nothing about usage. */
const MAX_LINE_CHARS = 1024 * 1024;
const LIMITS = { maxChars: MAX_LINE_CHARS, maxDepth: 64 };
/** Part of each event that carries a piece of an answer, in all four APIs. */
const PIECE = /"(?:delta|parts)"/;

type Fields = Readonly<Record<string, unknown>>;

export function createUsageScan(): UsageScan {
  const decoder = new TextDecoder();
  let line = "";
  let skipping = false; // the rest of a line that is too long
  let spoken = false;
  let tokens = NO_TOKENS;

  const take = (text: string): void => {
    spoken ||= PIECE.test(text);
    if (!text.includes('"usage')) return;
    const parsed = parseJson(text.replace(/^data:\s*/, ""), LIMITS);
    if (parsed.ok) tokens = newest(tokens, parsed.value);
  };

  return {
    hasSpoken: () => spoken,
    tokens: () => tokens,
    push(chunk) {
      const lines = decoder.decode(chunk, { stream: true }).split("\n");
      const rest = lines.pop() ?? "";
      for (const piece of lines) {
        if (!skipping) take(line + piece);
        line = "";
        skipping = false;
      }
      line += rest;
      if (line.length > MAX_LINE_CHARS) skipping = true;
      if (skipping) line = "";
    },
  };
}

/** Later events say the total so far, or only the part that has changed. */
function newest(before: TokenCount, event: unknown): TokenCount {
  const { usage, message, response, usageMetadata } = fields(event);
  const counts = [usage, fields(message)["usage"], fields(response)["usage"], usageMetadata].map(fields);
  return counts.reduce<TokenCount>((known, count) => withCount(known, count), before);
}

function withCount(known: TokenCount, count: Fields): TokenCount {
  const cacheRead =
    number(count["cache_read_input_tokens"]) ??
    number(count["cachedContentTokenCount"]) ??
    number(fields(count["prompt_tokens_details"])["cached_tokens"]) ??
    number(fields(count["input_tokens_details"])["cached_tokens"]) ??
    known.cacheRead;
  return {
    input: inputOf(count, cacheRead) ?? known.input,
    cacheRead,
    cacheWrite: number(count["cache_creation_input_tokens"]) ?? known.cacheWrite,
    output: outputOf(count) ?? known.output,
  };
}

/** Anthropic alone counts what came from the cache apart. */
function inputOf(count: Fields, cacheRead: number): number | null {
  const all = number(count["prompt_tokens"]) ?? number(count["promptTokenCount"]);
  if (all !== null) return Math.max(0, all - cacheRead);
  const input = number(count["input_tokens"]);
  const isWhole = count["input_tokens_details"] !== undefined;
  return input === null || !isWhole ? input : Math.max(0, input - cacheRead);
}

function outputOf(count: Fields): number | null {
  const answered = number(count["candidatesTokenCount"]);
  if (answered !== null) return answered + (number(count["thoughtsTokenCount"]) ?? 0);
  return number(count["output_tokens"]) ?? number(count["completion_tokens"]);
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}
