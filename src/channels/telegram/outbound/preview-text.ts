/** What a preview shows at this moment, by mode. Pure. Null: nothing worth showing yet. */
import { readable } from "../../markdown/index.ts";
import { renderText } from "../render/render.ts";
import type { Chunk } from "../render/split.ts";

export type StreamMode = "off" | "partial" | "block" | "progress";

export interface Watched {
  readonly text: string;
  readonly tools: readonly { readonly tool: string; readonly done: boolean }[];
  /** What it waits for; empty: nothing. */
  readonly waiting: string;
}

/** More than one message holds is never looked at. */
export const PREVIEW_CHARS = 6_000;
const BLOCK_MIN_CHARS = 200;
const TOOLS_SHOWN = 6;

export function previewOf(mode: StreamMode, { text, tools, waiting }: Watched): Chunk | null {
  if (mode === "off") return null;
  if (waiting !== "") return { text: waiting, entities: [] };
  if (mode === "progress") return tools.length === 0 ? null : { text: progressOf(tools), entities: [] };
  const shown = mode === "block" ? wholeBlocks(text) : text;
  const words = readable(shown.slice(0, PREVIEW_CHARS));
  return words.trim() === "" ? null : (renderText({ text: words })[0] ?? null);
}

/** Up to the end of the last paragraph; a code block that is still open waits. */
function wholeBlocks(text: string): string {
  let end = text.lastIndexOf("\n\n");
  while (end > 0 && (text.slice(0, end).match(/^ {0,3}(```|~~~)/gm) ?? []).length % 2 === 1)
    end = text.lastIndexOf("\n\n", end - 1);
  return end >= BLOCK_MIN_CHARS ? text.slice(0, end) : "";
}

function progressOf(tools: Watched["tools"]): string {
  const earlier = tools.length - TOOLS_SHOWN;
  const lines = tools.slice(-TOOLS_SHOWN).map(({ tool, done }) => `${done ? "✓" : "…"} ${tool}`);
  return ["Working on it", ...(earlier > 0 ? [`✓ ${earlier} earlier`] : []), ...lines].join("\n");
}
