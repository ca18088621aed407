/** What a call ends with, without the secrets the gateway knows. Pure. */
import type { ContentBlock, ResultMedia, ToolOutcome, ToolPath, ToolResult } from "../../contracts/tools/tool.ts";
import { maskTexts, type SecretMask } from "../../kit/secret.ts";

/** Models read a result as it is: a file that was read with a mask in it would be written back with it. */
const READ_BY_MODELS: readonly ToolPath[] = ["pipe", "pi"];

/**
 * Errors are masked for everybody: an address in them may have a token in it, and nobody works on with an error. The text that is to be kept
 * is for the agent, who keeps results itself.
 */
export function maskOutcome(outcome: ToolOutcome, path: ToolPath, mask: SecretMask): ToolOutcome {
  const byModel = READ_BY_MODELS.includes(path);
  if (outcome.kind === "ok") return byModel ? outcome : { kind: "ok", result: maskResult(outcome.result, mask) };
  const masked = { ...outcome, message: mask.text(outcome.message) };
  if (masked.kind !== "failed" || masked.kept === undefined) return masked;
  const { kept, ...rest } = masked;
  return byModel ? { ...rest, kept: mask.text(kept) } : rest;
}

/** Progress, where people or programs follow it; undefined: nobody does. */
export function maskUpdates(
  { path, onUpdate }: { readonly path: ToolPath; readonly onUpdate?: (partial: ToolResult) => void },
  mask: SecretMask,
): ((partial: ToolResult) => void) | undefined {
  if (!onUpdate || READ_BY_MODELS.includes(path)) return onUpdate;
  return (partial) => onUpdate(maskResult(partial, mask));
}

export function maskResult({ content, details, structured, media }: ToolResult, mask: SecretMask): ToolResult {
  const masked = content.map((block): ContentBlock =>
    block.type === "text" ? { type: "text", text: mask.text(block.text) } : block,
  );
  return {
    content: masked,
    ...(details === undefined ? {} : { details: maskTexts(details, mask) }),
    ...(structured === undefined ? {} : { structured: maskTexts(structured, mask) as typeof structured }), // an object stays one
    ...(media === undefined ? {} : { media: media.map((one) => maskMedia(one, mask)) }),
  };
}

function maskMedia(media: ResultMedia, mask: SecretMask): ResultMedia {
  if (media.type === "audio") return media;
  return { ...media, uri: mask.text(media.uri), text: mask.text(media.text) };
}
