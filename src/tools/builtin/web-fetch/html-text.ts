/**
 * The text of an HTML page, by Bun's HTMLRewriter: it reads a page of any form in one pass, in memory that does not grow with how deep the page
 * is nested. It is given a small piece at a time, so that the gateway does other things in between.
 */
import { decodeHTML } from "entities";
import { createPageWriter, type PageFormat } from "./page-writer.ts";

interface HtmlTextOptions {
  readonly baseUrl: string;
  readonly format: PageFormat;
  readonly maxChars: number;
}

export interface HtmlText {
  readonly title: string;
  readonly text: string;
  /** There was more than is read of one page. */
  readonly isCut: boolean;
}

const PIECE_BYTES = 8 * 1024;
/** More than any page for people has; each takes some microseconds. */
export const MAX_ELEMENTS = 100_000;
/** Text that never ends is handed on in parts of this size. */
const MAX_TEXT_NODE_CHARS = 64 * 1024;
/** More than the longest name of a character that HTML knows. */
const MAX_ENTITY_CHARS = 40;

/** Rejects when the signal aborts. */
export async function htmlText(html: string, options: HtmlTextOptions, signal: AbortSignal): Promise<HtmlText> {
  const writer = createPageWriter({ ...options, maxElements: MAX_ELEMENTS });
  let held = "";
  const hand = (upTo = held.length): void => {
    if (upTo > 0) writer.text(decodeHTML(held.slice(0, upTo)));
    held = held.slice(upTo);
  };
  const rewriter = new HTMLRewriter()
    .on("*", {
      element(element) {
        hand();
        if (writer.isFull) return;
        const end = writer.open(element.tagName, (name) => attributeOf(element, name));
        if (!element.canHaveContent) return end?.(); // such as <embed> and <svg/>, which have no end tag
        if (end)
          element.onEndTag(() => {
            hand();
            end();
          });
      },
    })
    .onDocument({
      text({ text, lastInTextNode }) {
        held += text;
        if (lastInTextNode) hand();
        else if (held.length > MAX_TEXT_NODE_CHARS) hand(beforeEntity(held));
      },
    });
  const pieces = piecesOf(html, () => writer.isFull, signal);
  await rewriter.transform(new Response(pieces)).arrayBuffer();
  signal.throwIfAborted();
  hand();
  const isCut = writer.isFull;
  return { ...writer.finish(), isCut };
}

/** Where a part of a text may end: before what could be the first half of an entity. */
function beforeEntity(text: string): number {
  const at = text.lastIndexOf("&");
  return at >= text.length - MAX_ENTITY_CHARS && at > 0 ? at : text.length;
}

/** HTMLRewriter hands over attributes as they are written. */
function attributeOf(element: HTMLRewriterTypes.Element, name: string): string | null {
  const value = element.getAttribute(name);
  return value === null ? null : decodeHTML(value);
}

function piecesOf(html: string, isEnough: () => boolean, signal: AbortSignal): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(html);
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve));
      if (at >= bytes.byteLength || isEnough() || signal.aborted) return controller.close();
      controller.enqueue(bytes.slice(at, at + PIECE_BYTES));
      at += PIECE_BYTES;
    },
  });
}
