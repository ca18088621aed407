/** What a tool gave back, checked before anyone sees it: the right form, within limits, cut where it is too long and marked there. */
import type { ContentBlock, ToolOutcome, ToolResult } from "../../contracts/tools/tool.ts";
import type { SecretMask } from "../../kit/secret.ts";
import type { CheckResult } from "../schema/compile.ts";
import { type ImageCheck, leftOut } from "./images.ts";
import { mediaOf, structuredOf } from "./program-output.ts";

/** How a call that ran can end. */
export type Finished = Extract<ToolOutcome, { kind: "ok" | "failed" }>;

/** Details go to page and record only; more than this is a mistake of the tool. */
const MAX_DETAILS_CHARS = 64 * 1024;
const MAX_BLOCKS = 1_000;

type CheckedResult =
  { readonly ok: true; readonly result: ToolResult } | { readonly ok: false; readonly because: string };

interface ResultLimits {
  readonly maxOutputChars: number;
  readonly maxImages: number;
}

interface ResultChecks {
  readonly images: ImageCheck;
  /** By the tool's output schema; null: it has none. */
  readonly checkOutput: ((structured: unknown) => CheckResult) | null;
  /** What is too long is cut between secrets. */
  readonly mask: Pick<SecretMask, "cut">;
}

export async function checkResult(
  value: unknown,
  { images, checkOutput, mask }: ResultChecks,
  { maxOutputChars, maxImages }: ResultLimits,
): Promise<CheckedResult> {
  const blocks = blocksOf(value);
  if (typeof blocks === "string") return { ok: false, because: blocks };
  const structured = structuredOf(value, checkOutput, maxOutputChars);
  if (structured.kind === "wrong") return { ok: false, because: structured.because };
  const media = mediaOf(value);
  if (typeof media === "string") return { ok: false, because: media };
  const cut = cutTexts(blocks, maxOutputChars, mask);
  const content: ContentBlock[] = [];
  let pictures = 0;
  for (const block of cut) {
    if (block.type === "text") content.push(block);
    else if (++pictures > maxImages) content.push(leftOut(`more than ${maxImages} images`));
    else content.push(await images(block));
  }
  const details = (value as { readonly details?: unknown }).details;
  return {
    ok: true,
    result: {
      content,
      ...(details === undefined ? {} : { details: boundedDetails(details) }),
      ...(structured.kind === "none" ? {} : { structured: structured.value }),
      ...(media.length === 0 ? {} : { media }),
    },
  };
}

/** For people and the record: images as a note. */
export function textOf(result: ToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : `[image ${block.mimeType}]`)).join("\n");
}

/** The same result with another text. Its images stay; its details and what programs read do not: they may repeat the text that was replaced. */
export function withText(result: ToolResult, text: string): ToolResult {
  const images = result.content.filter(({ type }) => type === "image");
  return { content: [{ type: "text", text }, ...images] };
}

/** What is kept of an outcome, for people and the record. */
export function finishedText(outcome: Finished): string {
  return outcome.kind === "ok" ? textOf(outcome.result) : outcome.message;
}

function blocksOf(value: unknown): readonly ContentBlock[] | string {
  const content: unknown = typeof value === "object" && value !== null && "content" in value ? value.content : null;
  if (!Array.isArray(content)) return "it did not answer with content";
  if (content.length === 0) return "it answered with empty content. A result has at least one text or image";
  if (content.length > MAX_BLOCKS) return `it answered with more than ${MAX_BLOCKS} pieces`;
  const blocks = content.filter(isBlock).map(bare);
  return blocks.length === content.length ? blocks : "a piece of its answer is neither text nor an image";
}

function bare(block: ContentBlock): ContentBlock {
  return block.type === "text"
    ? { type: "text", text: block.text }
    : { type: "image", data: block.data, mimeType: block.mimeType };
}

function isBlock(value: unknown): value is ContentBlock {
  if (typeof value !== "object" || value === null) return false;
  const { type, text, data, mimeType } = value as Partial<Record<"type" | "text" | "data" | "mimeType", unknown>>;
  if (type === "text") return typeof text === "string";
  return type === "image" && typeof data === "string" && typeof mimeType === "string";
}

function cutTexts(
  blocks: readonly ContentBlock[],
  maxChars: number,
  mask: ResultChecks["mask"],
): readonly ContentBlock[] {
  let room = maxChars;
  return blocks.map((block) => {
    if (block.type !== "text") return block;
    const text = block.text.toWellFormed();
    const kept = room;
    room = Math.max(0, room - text.length);
    return { type: "text", text: text.length <= kept ? text : cut(text, kept, mask) };
  });
}

/** Never in the middle of a character, nor of a secret. */
function cut(text: string, room: number, mask: ResultChecks["mask"]): string {
  const end = room > 0 && /[\ud800-\udbff]/.test(text.charAt(room - 1)) ? room - 1 : room;
  const kept = mask.cut(text, end);
  return `${kept}\n[cut: ${text.length - kept.length} more characters]`;
}

function boundedDetails(details: unknown): unknown {
  try {
    const text = JSON.stringify(details) ?? "null";
    return text.length <= MAX_DETAILS_CHARS
      ? (JSON.parse(text) as unknown)
      : { leftOut: `${text.length} characters of details` };
  } catch {
    return { leftOut: "details that are not JSON" }; // a circle or a BigInt: the words of the answer are what counts
  }
}
