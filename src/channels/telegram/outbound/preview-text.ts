/** What a preview shows at this moment, by mode. Pure. Null: nothing worth showing yet. */
import {
  readable,
  type ShownTool,
  type ShownTools,
  speakingTool,
  type StreamMode,
  type TurnView,
} from "../../kit/index.ts";
import { MAX_TEXT_UNITS, renderText } from "../render/render.ts";
import type { Chunk } from "../render/split.ts";

/** More than one message holds is never looked at. */
const PREVIEW_CHARS = 6_000;
const BLOCK_MIN_CHARS = 200;
const TOOLS_SHOWN = 6;
const HEAD = "Working on it";

export function previewOf(mode: StreamMode, { text, tools, waiting }: TurnView): Chunk | null {
  if (mode === "off") return null;
  if (waiting !== "") return { text: waiting, entities: [] };
  if (mode === "progress")
    return tools.calls.size === 0 ? null : joined([{ text: HEAD, entities: [] }, ...listed(tools)], "\n");
  const shown = mode === "block" ? wholeBlocks(text) : text;
  const words = readable(shown.slice(0, PREVIEW_CHARS));
  const answer = words.trim() === "" ? null : (renderText({ text: words })[0] ?? null);
  const speaking = speakingTool(tools);
  if (!speaking || (answer && speaking.progress === "")) return answer;
  const line = lineOf(speaking);
  const both = answer ? joined([answer, line], "\n\n") : line;
  return both.text.length <= MAX_TEXT_UNITS ? both : answer;
}

/** Up to the end of the last paragraph; a code block that is still open waits. */
function wholeBlocks(text: string): string {
  let end = text.lastIndexOf("\n\n");
  while (end > 0 && (text.slice(0, end).match(/^ {0,3}(```|~~~)/gm) ?? []).length % 2 === 1)
    end = text.lastIndexOf("\n\n", end - 1);
  return end >= BLOCK_MIN_CHARS ? text.slice(0, end) : "";
}

function listed({ calls }: ShownTools): readonly Chunk[] {
  const earlier = calls.size - TOOLS_SHOWN;
  const lines = [...calls.values()].slice(-TOOLS_SHOWN).map(lineOf);
  return earlier > 0 ? [{ text: `✓ ${earlier} earlier`, entities: [] }, ...lines] : lines;
}

/** What a tool says is code to Telegram: nobody is mentioned by it, and nothing in it is a link. */
function lineOf({ tool, done, progress }: ShownTool): Chunk {
  const name = `${done ? "✓" : "…"} ${tool}`;
  if (progress === "") return { text: name, entities: [] };
  const entities = [{ type: "code", offset: name.length + 2, length: progress.length }] as const;
  return { text: `${name}: ${progress}`, entities };
}

function joined(chunks: readonly Chunk[], gap: string): Chunk {
  return chunks.reduce((all, { text, entities }) => {
    const from = all.text.length + gap.length;
    const moved = entities.map((entity) => ({ ...entity, offset: entity.offset + from }));
    return { text: all.text + gap + text, entities: [...all.entities, ...moved] };
  });
}
