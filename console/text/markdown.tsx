/** Shows markdown, block by block; a block whose source did not change is not touched. Nothing reaches the web console unsanitised. */
import { computed, signal } from "@preact/signals";
import DOMPurify, { type Config } from "dompurify";
import type { Token } from "marked";
import { useMemo, useRef } from "preact/hooks";
import { NO_BLOCKS, splitBlocks } from "./blocks.ts";
import { copyText } from "./copy.ts";
import { createRenderer, type Highlight } from "./render.ts";

const PLAIN_ATTRIBUTES = ["align", "aria-label", "data-copy", "rel", "start", "tabindex", "target", "type"];

/** The second wall: should the renderer ever let something through, this list decides what may be in a message. */
const PURIFY: Config = {
  ALLOWED_TAGS: [
    ...[
      "a",
      "blockquote",
      "br",
      "button",
      "code",
      "del",
      "div",
      "em",
      "h1",
      "h2",
      "h3",
      "h4",
      "h5",
      "h6",
      "hr",
      "li",
      "ol",
    ],
    ...["p", "pre", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"],
  ],
  ALLOWED_ATTR: [...PLAIN_ATTRIBUTES, "class", "href", "role"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  // Values of all other attributes are checked as if they were addresses; these never are.
  ADD_URI_SAFE_ATTR: PLAIN_ATTRIBUTES,
};

export function sanitize(html: string): string {
  return DOMPurify.sanitize(html, PURIFY);
}

/** What chat platforms know as HTML in messages, and nothing that could look like the console itself. */
const CHAT_HTML: Config = {
  ALLOWED_TAGS: ["a", "b", "blockquote", "br", "code", "del", "em", "i", "ins", "pre", "s", "strike", "strong", "u"],
  ALLOWED_ATTR: ["href"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** Links leave the console in a tab of their own. Nothing else can begin like this in text that was made harmless. */
function chatHtml(text: string): string {
  const safe = DOMPurify.sanitize(text, CHAT_HTML);
  return safe.replaceAll("<a href=", '<a target="_blank" rel="noopener noreferrer" href=');
}

/** A message that its sender wrote as HTML. Line ends stay, as on chat platforms. */
export function Html({ text }: { readonly text: string }) {
  const html = useMemo(() => chatHtml(text), [text]);
  return <div class="prose plain" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />;
}

const highlighter = signal<Highlight | null>(null);
const plain = createRenderer(null);
const coloured = computed(() => createRenderer(highlighter.value));
let asked = false;
const FENCE = /```|~~~/;

async function needHighlighter(): Promise<void> {
  if (asked) return;
  asked = true;
  try {
    highlighter.value = (await import("./highlight.ts")).highlight;
  } catch {
    asked = false; // code stays readable without colours; the next code block tries again
  }
}

export function Markdown({ text }: { readonly text: string }) {
  const before = useRef(NO_BLOCKS);
  before.current = splitBlocks(text, before.current);
  return (
    <div class="prose" onClick={copyCode}>
      {before.current.tokens.map((token, at) => (token.type === "space" ? null : <Block key={at} token={token} />))}
    </div>
  );
}

function Block({ token }: { readonly token: Token }) {
  const hasCode = FENCE.test(token.raw);
  if (hasCode) void needHighlighter();
  const render = hasCode ? coloured.value : plain;
  const html = useMemo(() => sanitize(render(token)), [token.raw, render]);
  return <div class="block" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />;
}

function copyCode(event: MouseEvent): void {
  const button = (event.target as Element).closest("[data-copy]");
  const code = button?.closest(".code")?.querySelector("pre")?.textContent;
  if (!button || code === undefined || code === null) return;
  void copyText(code).then((copied) => say(button, copied ? "Copied" : "Not allowed"));
}

const COPIED_MS = 1_500;

function say(button: Element, word: string): void {
  button.textContent = word;
  setTimeout(() => {
    button.textContent = "Copy";
  }, COPIED_MS);
}
