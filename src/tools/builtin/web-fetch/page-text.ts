/** What came over the wire as text: by its type and its encoding. What is not text is named, not guessed at. */
import type { HtmlText } from "./html-text.ts";
import type { PageFormat } from "./page-writer.ts";

interface Page {
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly url: string;
}

export interface PageText extends HtmlText {
  readonly url: string;
}

interface PageTextOptions {
  readonly format: PageFormat;
  readonly maxChars: number;
}

/** A name that TextDecoder knows. */
type Encoding = ConstructorParameters<typeof TextDecoder>[0] & string;

const SNIFFED_BYTES = 1_024;
const HTML = /^(?:text\/html|application\/xhtml\+xml)$/;
const TEXT =
  /^(?:text\/.+|application\/(?:.+\+)?(?:json|xml|yaml)|application\/(?:x-)?(?:javascript|ecmascript|x-ndjson|ndjson|toml|x-yaml|x-sh|sql|graphql))$/;
const NAMES: readonly (readonly [type: RegExp, name: string])[] = [
  [/^application\/pdf$/, "a PDF file"],
  [/^image\//, "a picture"],
  [/^audio\//, "a sound file"],
  [/^video\//, "a video"],
  [/zip|compressed|x-tar|gzip/, "an archive"],
  [/officedocument|msword|ms-excel|ms-powerpoint|opendocument/, "an office document"],
];

/** Throws a sentence for what cannot be read. */
export async function pageText(page: Page, options: PageTextOptions, signal: AbortSignal): Promise<PageText> {
  const type = typeOf(page);
  const isHtml = HTML.test(type);
  if (!isHtml && !TEXT.test(type))
    throw new Error(`The page is ${nameOf(type)}, which web_fetch cannot read. Only text, HTML and JSON are read.`);
  const text = decoded(page, isHtml);
  if (!isHtml) {
    const kept = text.slice(0, options.maxChars).toWellFormed();
    return { url: page.url, title: "", text: kept, isCut: kept.length < text.length };
  }
  const { htmlText } = await import("./html-text.ts"); // its table of entities is read by the first page, not by every start
  return { url: page.url, ...(await htmlText(text, { ...options, baseUrl: page.url }, signal)) };
}

/** A server that says nothing, or only that it sends bytes, is looked at. */
function typeOf({ contentType, body }: Page): string {
  const type = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (type !== "" && type !== "application/octet-stream") return type;
  const start = Buffer.from(body.subarray(0, SNIFFED_BYTES)).toString("latin1");
  if (start.startsWith("%PDF-")) return "application/pdf";
  if (start.includes("\0")) return "application/octet-stream";
  return /^\s*(?:<!--[\s\S]*?-->\s*)?<(?:!doctype html|html|head|body)\b/i.test(start) ? "text/html" : "text/plain";
}

const nameOf = (type: string): string =>
  NAMES.find(([pattern]) => pattern.test(type))?.[1] ??
  `of the type ${type.slice(0, 100).replaceAll(/[^\w.+/-]/g, "")}`;

function decoded(page: Page, isHtml: boolean): string {
  const { body } = page;
  const named = markOf(body) ?? labelOf(/charset\s*=\s*"?([\w.:-]{1,40})/i.exec(page.contentType)?.[1]);
  const label = named ?? (isHtml ? metaOf(body) : null);
  if (label !== null) return new TextDecoder(label).decode(body);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return new TextDecoder("windows-1252").decode(body); // what browsers take a page for that names nothing and is not UTF-8
  }
}

function markOf(body: Uint8Array): Encoding | null {
  const [a, b, c] = body;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  return a === 0xfe && b === 0xff ? "utf-16be" : null;
}

/** `<meta charset=…>`, near the beginning, as the standard asks. One that names UTF-16 is wrong: it could not have been read. */
function metaOf(body: Uint8Array): Encoding | null {
  const start = Buffer.from(body.subarray(0, SNIFFED_BYTES)).toString("latin1");
  const label = labelOf(/<meta\b[^>]{0,300}?charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(start)?.[1]);
  return label?.startsWith("utf-16") ? "utf-8" : label;
}

/** Null: no encoding of that name is known. */
function labelOf(name: string | undefined): Encoding | null {
  if (name === undefined) return null;
  try {
    return new TextDecoder(name as Encoding).encoding as Encoding; // throws for what it does not know
  } catch {
    return null; // it is then judged as if nothing had been said
  }
}
