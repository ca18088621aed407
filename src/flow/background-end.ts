/** What a conversation is told about a tool that went on after its turn: how it ended, and what it gave back. */
import type { BackgroundEnd } from "../tools/index.ts";

const MAX_OUTPUT_CHARS = 4_000;

/** `kept`: what is written down, where a plugin wants that to be another text. */
export function backgroundEndWords({ tool, outcome }: Pick<BackgroundEnd, "tool" | "outcome">): {
  readonly real: string;
  readonly kept: string;
} {
  const how = outcome.kind === "ok" ? "has finished" : "has failed";
  const sentence = (text: string): string =>
    `${tool}, which went on in the background, ${how}.\n${text.slice(0, MAX_OUTPUT_CHARS)}`;
  const text =
    outcome.kind === "ok"
      ? outcome.result.content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n")
      : outcome.message;
  return { real: sentence(text), kept: sentence(outcome.kept ?? text) };
}
