/** What a preview shows of an answer that is not finished. Pure. */
import {
  readable,
  type ShownTool,
  type ShownTools,
  speakingTool,
  type StreamMode,
  type TurnView,
} from "../../kit/index.ts";
import { MAX_MESSAGE_CHARS, renderMarkdown } from "../text/render.ts";
import { splitText } from "../text/split.ts";

const MORE = " …";
const MAX_TOOLS = 5;
/** More than one message holds is never looked at. */
const PREVIEW_CHARS = 2 * MAX_MESSAGE_CHARS;

/** `partial`: all there is so far. `block`: whole paragraphs. `progress`: which tools are used. Empty: nothing to show yet. */
export function previewText({ text, tools, waiting }: TurnView, mode: StreamMode): string {
  if (waiting !== "" && mode !== "off") return shown(waiting);
  switch (mode) {
    case "off":
      return "";
    case "partial":
      return withProgress(shown(text), tools);
    case "block":
      return withProgress(shown(text.slice(0, Math.max(0, text.lastIndexOf("\n\n")))), tools);
    case "progress": {
      const lines = [...tools.calls.values()].slice(-MAX_TOOLS).map(lineOf);
      return lines.length === 0 ? "" : [`Working${MORE}`, ...lines].join("\n");
    }
  }
}

function withProgress(answer: string, tools: ShownTools): string {
  const speaking = speakingTool(tools);
  if (!speaking || (answer !== "" && speaking.progress === "")) return answer;
  const both = answer === "" ? lineOf(speaking) : `${answer}\n\n${lineOf(speaking)}`;
  return both.length <= MAX_MESSAGE_CHARS ? both : answer;
}

/** What a tool says is code to Discord: nobody is mentioned by it, and nothing in it is a link or formatting. */
function lineOf({ tool, progress }: ShownTool): string {
  const name = `• ${tool.replaceAll("_", "\\_")}`;
  return progress === "" ? name : `${name}: \`${progress.replaceAll("`", "'")}\``;
}

/** The first message of it: what does not fit comes with the reply. */
function shown(text: string): string {
  const words = readable(text.slice(0, PREVIEW_CHARS));
  if (words.trim() === "") return "";
  const [first = ""] = splitText(closed(renderMarkdown(words)), MAX_MESSAGE_CHARS - MORE.length);
  return first.endsWith("```") ? first : first + MORE;
}

/** A block that is still being written is closed, so that it looks like one. */
function closed(text: string): string {
  const marks = text.split("\n").filter((line) => /^ {0,3}```/.test(line)).length;
  return marks % 2 === 1 ? `${text}\n\`\`\`` : text;
}
