/**
 * From the result of a server to what a model reads: text marked as coming from outside, pictures as pictures, resources as readable text. What
 * nobody can read here is named with its size. Nothing of it is believed. Pure but for the marks.
 */
import type { ContentBlock, ToolResult } from "../../contracts/tools/tool.ts";
import type { Ids } from "../../kit/ids.ts";
import { isObject } from "../../kit/json.ts";
import { writeOut } from "../../kit/marks/written-out.ts";
import { wrapUntrusted } from "../../kit/marks/untrusted.ts";

interface ResultParts {
  readonly server: string;
  readonly content: readonly unknown[];
  readonly structured: unknown;
  readonly isError: boolean;
  /** What resources that the result only links to say; by address. */
  readonly resources: ReadonlyMap<string, readonly unknown[]>;
}

const MAX_BLOCKS = 64;
const MAX_TEXT_CHARS = 512 * 1024;
const MAX_LINE_CHARS = 500;

type Piece = { readonly text: string } | { readonly image: string; readonly mimeType: string };

export function toolResult(
  { ids }: { readonly ids: Ids },
  parts: ResultParts,
): ToolResult & { readonly isError?: true } {
  const pieces = parts.content.slice(0, MAX_BLOCKS).flatMap((block) => piecesOf(block, parts.resources));
  const left = parts.content.length - MAX_BLOCKS;
  if (left > 0) pieces.push({ text: `[${left} more parts were left out]` });
  const texts = pieces.flatMap((piece) => ("text" in piece ? [piece.text] : []));
  if (texts.length === 0 && parts.structured !== undefined) texts.push(JSON.stringify(parts.structured, null, 2) ?? "");
  const images = pieces.flatMap((piece) => ("image" in piece ? [piece] : []));
  if (texts.length === 0 && images.length === 0) texts.push("[the result is empty]");
  const text = texts.join("\n\n").slice(0, MAX_TEXT_CHARS).toWellFormed();
  const content: ContentBlock[] = [
    ...(texts.length === 0 ? [] : [{ type: "text" as const, text: marked(ids, parts, text) }]),
    ...images.map(({ image, mimeType }) => ({ type: "image" as const, data: image, mimeType })),
  ];
  return {
    content,
    ...(parts.structured === undefined ? {} : { details: { structuredContent: parts.structured } }),
    ...(parts.isError ? { isError: true } : {}),
  };
}

function marked(ids: Ids, { server }: ResultParts, text: string): string {
  return wrapUntrusted(ids, { source: `MCP server ${server}`, text: writeOut(text) });
}

function piecesOf(block: unknown, resources: ResultParts["resources"]): readonly Piece[] {
  if (!isObject(block)) return [];
  switch (block["type"]) {
    case "text":
      return [{ text: textOf(block["text"]) }];
    case "image":
      return [{ image: textOf(block["data"]), mimeType: textOf(block["mimeType"]) }];
    case "audio":
      return [{ text: named("audio", block, textOf(block["data"])) }];
    case "resource":
      return resourcePieces(block["resource"]);
    case "resource_link":
      return linkPieces(block, resources);
    default:
      return [{ text: `[a part of the kind ${oneLine(textOf(block["type"]))} cannot be shown]` }];
  }
}

function resourcePieces(resource: unknown): readonly Piece[] {
  if (!isObject(resource)) return [];
  const { text, blob, mimeType, uri } = resource;
  if (typeof text === "string") return [{ text: `[resource ${oneLine(textOf(uri))}]\n${text}` }];
  if (typeof blob !== "string") return [];
  if (textOf(mimeType).startsWith("image/")) return [{ image: blob, mimeType: textOf(mimeType) }];
  if (textOf(mimeType).startsWith("text/"))
    return [{ text: `[resource ${oneLine(textOf(uri))}]\n${Buffer.from(blob, "base64").toString("utf8")}` }];
  return [{ text: named("resource", resource, blob) }];
}

/** The link, and what it leads to where that was read. */
function linkPieces(link: Readonly<Record<string, unknown>>, resources: ResultParts["resources"]): readonly Piece[] {
  const uri = textOf(link["uri"]);
  const words = [textOf(link["title"]) || textOf(link["name"]), textOf(link["description"])].filter(
    (one) => one !== "",
  );
  const line = `[link to resource ${oneLine(uri)}${words.length > 0 ? `: ${oneLine(words.join(", "))}` : ""}]`;
  return [{ text: line }, ...(resources.get(uri) ?? []).flatMap(resourcePieces)];
}

/** Addresses of resources that a result links to, each once. */
export function linkedResources(content: readonly unknown[]): readonly string[] {
  const uris = content.flatMap((block) =>
    isObject(block) && block["type"] === "resource_link" && typeof block["uri"] === "string" ? [block["uri"]] : [],
  );
  return [...new Set(uris)];
}

function named(kind: string, { uri, mimeType }: Readonly<Record<string, unknown>>, base64: string): string {
  const bytes = Math.floor((base64.length * 3) / 4);
  const of = [oneLine(textOf(uri)), oneLine(textOf(mimeType))].filter((one) => one !== "").join(", ");
  return `[${kind}${of === "" ? "" : ` ${of}`}: ${bytes} bytes that cannot be read as text]`;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function oneLine(text: string): string {
  return text.slice(0, MAX_LINE_CHARS).toWellFormed().replace(/\s+/g, " ").trim();
}
