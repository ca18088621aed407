/** The parts of a result that programs read and models do not: a value by the tool's output schema, sounds and documents. */
import type { ResultMedia } from "../../contracts/tools/tool.ts";
import { isObject } from "../../kit/json.ts";
import type { CheckResult } from "../schema/compile.ts";

const MAX_MEDIA = 8;
/** Of one sound in base64, or of the text of one document. */
const MAX_MEDIA_CHARS = 7 * 1024 * 1024;

type Structured =
  | { readonly kind: "none" }
  | { readonly kind: "fits"; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: "wrong"; readonly because: string };

/** `check` null: the tool has no output schema, and any object will do. */
export function structuredOf(
  result: unknown,
  check: ((structured: unknown) => CheckResult) | null,
  maxChars: number,
): Structured {
  const given: unknown = isObject(result) ? result["structured"] : undefined;
  if (given === undefined) return check ? wrong("its answer lacks what its outputSchema says") : { kind: "none" };
  const copy = jsonCopy(given, maxChars);
  if (!isObject(copy)) return wrong("`structured` of its answer is no object, no JSON, or too large");
  const judged = check?.(copy) ?? { ok: true };
  if (judged.ok) return { kind: "fits", value: copy };
  const [first] = judged.problems;
  return wrong(
    `\`structured\` of its answer is not as its outputSchema says: ${first?.path ?? ""} ${first?.message ?? ""}`,
  );
}

function wrong(because: string): Structured {
  return { kind: "wrong", because };
}

function jsonCopy(value: unknown, maxChars: number): unknown {
  try {
    const text = JSON.stringify(value);
    return text.length > maxChars ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined; // a circle or a BigInt: told to the tool's author as what it is, no JSON
  }
}

/** A text says why the media cannot be taken. */
export function mediaOf(result: unknown): readonly ResultMedia[] | string {
  const given: unknown = isObject(result) ? (result["media"] ?? []) : [];
  if (!Array.isArray(given) || given.length > MAX_MEDIA)
    return `\`media\` of its answer is no list of up to ${MAX_MEDIA}`;
  const media = given.flatMap((one: unknown) => bare(one) ?? []);
  return media.length === given.length
    ? media
    : "a piece of `media` is neither a sound nor a document, or is too large";
}

function bare(one: unknown): ResultMedia | null {
  if (!isObject(one)) return null;
  const { type, data, mimeType, uri, text } = one;
  if (typeof mimeType !== "string") return null;
  if (type === "audio" && isShort(data)) return { type, data, mimeType };
  return type === "resource" && typeof uri === "string" && isShort(text) ? { type, uri, mimeType, text } : null;
}

function isShort(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_MEDIA_CHARS;
}
