/** Shows markdown, block by block; a block whose source did not change is not touched. Nothing reaches the web console unsanitised. */
import { computed, signal } from "@preact/signals";
import DOMPurify, { type Config } from "dompurify";
import type { Token, Tokens } from "marked";
import type { ComponentChildren, ComponentType } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { NO_BLOCKS, splitBlocks } from "./blocks.ts";
import { copyText } from "./copy.ts";
import { MATH_ATTRIBUTES, MATH_NAMES, MATH_TAGS, type WriteMath } from "./math.ts";
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

const PURIFY_MATH: Config = {
  ...PURIFY,
  ALLOWED_TAGS: [...(PURIFY.ALLOWED_TAGS ?? []), ...MATH_TAGS],
  ALLOWED_ATTR: [...(PURIFY.ALLOWED_ATTR ?? []), ...MATH_ATTRIBUTES],
  ADD_URI_SAFE_ATTR: [...PLAIN_ATTRIBUTES, ...MATH_ATTRIBUTES],
};

export function sanitize(html: string, withMath = false): string {
  return DOMPurify.sanitize(html, withMath ? PURIFY_MATH : PURIFY);
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
const mathWriter = signal<WriteMath | null>(null);
const plain = createRenderer(null, null);
const rich = computed(() => createRenderer(highlighter.value, mathWriter.value));
const FENCE = /```|~~~/;

/** Loads something once, when it is first needed. What cannot be loaded is tried again by the next block: text stays readable without it. */
function onceNeeded(load: () => Promise<void>): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    load().catch(() => {
      asked = false;
    });
  };
}

const needHighlighter = onceNeeded(async () => {
  highlighter.value = (await import("./highlight.ts")).highlight;
});
const needMath = onceNeeded(async () => {
  mathWriter.value = (await import("./katex.ts")).writeMath;
});

function hasMath(token: Token): boolean {
  if ((MATH_NAMES as readonly string[]).includes(token.type)) return true;
  const inside = [
    ...("tokens" in token ? (token.tokens ?? []) : []),
    ...("items" in token ? (token.items as Token[]) : []),
    ...(token.type === "table" ? cellsOf(token as Tokens.Table) : []),
  ];
  return inside.some(hasMath);
}

const cellsOf = ({ header, rows }: Tokens.Table): readonly Token[] =>
  [...header, ...rows.flat()].flatMap(({ tokens }) => tokens);

export function Markdown({ text }: { readonly text: string }) {
  const before = useRef(NO_BLOCKS);
  before.current = splitBlocks(text, before.current);
  return (
    <div class="prose" onClick={copyCode}>
      {before.current.tokens.map((token, at) => {
        if (token.type === "space") return null;
        const block = <Block key={at} token={token} />;
        return isDiagram(token) ? <LazyDiagram key={at} text={token.text} fallback={block} /> : block;
      })}
    </div>
  );
}

/** Not before its last line is there: half a diagram is none. */
function isDiagram(token: Token): token is Tokens.Code {
  return token.type === "code" && token.lang?.trim() === "mermaid" && /\n *(```+|~~~+) *\n*$/.test(token.raw);
}

const diagram = signal<ComponentType<{ readonly text: string }> | null>(null);
const needDiagram = onceNeeded(async () => {
  const { Diagram } = await import("../diagrams/diagram.tsx");
  diagram.value = Diagram;
});

function LazyDiagram({ text, fallback }: { readonly text: string; readonly fallback: ComponentChildren }) {
  needDiagram();
  const Diagram = diagram.value;
  return Diagram ? <Diagram text={text} /> : fallback;
}

function Block({ token }: { readonly token: Token }) {
  const hasCode = FENCE.test(token.raw);
  const withMath = useMemo(() => hasMath(token), [token.raw]);
  if (hasCode) needHighlighter();
  if (withMath) needMath();
  const render = hasCode || withMath ? rich.value : plain;
  const html = useMemo(() => sanitize(render(token), withMath), [token.raw, render]);
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
