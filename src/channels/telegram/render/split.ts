/** Styled text → messages that are short enough: cut between paragraphs, lines, sentences or words, never inside a character or a code block. */
import { wholeCharacters } from "../../kit/index.ts";
import { cutRuns, entitiesOf, type Entity, type Run, textOf } from "./runs.ts";

export interface Chunk {
  readonly text: string;
  readonly entities: readonly Entity[];
}

/** Telegram reads the first hundred and forgets the rest. */
const MAX_ENTITIES = 100;
/** A nicer place to cut is worth this much of a message. */
const FULL_ENOUGH = 0.4;

interface Span {
  readonly from: number;
  readonly to: number;
}

export function splitRuns(runs: readonly Run[], maxUnits: number): readonly Chunk[] {
  const text = textOf(runs);
  const blocks = blocksOf(runs);
  const chunks: Chunk[] = [];
  let at = 0;
  while (at < text.length) {
    at = skipBlank(text, at, blocks);
    if (at >= text.length) break;
    let end = text.length - at <= maxUnits ? text.length : cutAt(text, blocks, at, { wantedUnits: maxUnits, maxUnits });
    let entities = entitiesOf(cutRuns(runs, at, end));
    while (entities.length > MAX_ENTITIES) {
      end = cutAt(text, blocks, at, { wantedUnits: Math.max(1, Math.floor((end - at) / 2)), maxUnits });
      entities = entitiesOf(cutRuns(runs, at, end));
    }
    const said = text.slice(at, end).trimEnd();
    if (said !== "") chunks.push({ text: said, entities: within(entities, said.length) });
    at = end;
  }
  return chunks;
}

/** Code blocks, which are kept in one piece. */
function blocksOf(runs: readonly Run[]): readonly Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const { text, styles } of runs) {
    if (styles.some(({ type }) => type === "pre")) spans.push({ from: at, to: at + text.length });
    at += text.length;
  }
  return spans;
}

/** A message does not begin with empty lines. Inside code the spaces of a line mean something, and stay. */
function skipBlank(text: string, from: number, blocks: readonly Span[]): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at] ?? "")) {
    const code = blocks.find((block) => block.from <= at && at < block.to);
    if (code && text[at] !== "\n") break;
    at++;
  }
  return at;
}

function within(entities: readonly Entity[], length: number): readonly Entity[] {
  return entities
    .map((one) => ({ ...one, length: Math.min(one.length, length - one.offset) }))
    .filter((one) => one.length > 0);
}

interface Room {
  /** Less than `maxUnits` where the message would have too many entities. */
  readonly wantedUnits: number;
  readonly maxUnits: number;
}

/** Where a message that begins at `at` ends; always after `at`. A code block that it begins with is kept whole if a message can hold it. */
function cutAt(text: string, blocks: readonly Span[], at: number, { wantedUnits, maxUnits }: Room): number {
  const hard = at + wantedUnits;
  const cutBlock = blocks.find((block) => block.from < hard && hard < block.to);
  if (cutBlock && cutBlock.from > at) return cutBlock.from; // it begins the next message
  if (cutBlock && cutBlock.to - at <= maxUnits) return cutBlock.to;
  if (cutBlock) return wholeCharacters(text, at, lastLine(text, at, hard) ?? hard);
  const wanted = nicePlace(text, at, hard);
  const block = blocks.find((one) => one.from < wanted && wanted < one.to);
  return block ? block.to : wholeCharacters(text, at, wanted);
}

function lastLine(text: string, at: number, hard: number): number | null {
  const line = text.lastIndexOf("\n", hard - 1);
  return line > at ? line : null;
}

function nicePlace(text: string, at: number, hard: number): number {
  const early = at + Math.floor((hard - at) * FULL_ENOUGH);
  for (const place of ["\n\n", "\n"]) {
    const found = text.lastIndexOf(place, hard - 1);
    if (found > early) return found;
  }
  const part = text.slice(early, hard);
  const sentence = Math.max(...[". ", "! ", "? ", "… ", "。", "！", "？"].map((end) => part.lastIndexOf(end)));
  if (sentence > 0) return early + sentence + 1;
  const space = part.lastIndexOf(" ");
  return space > 0 ? early + space + 1 : hard;
}
