/**
 * Writes what a page says as Markdown or plain text, while its HTML goes by: elements open and close, text comes in between. Nothing is kept of
 * the page but its text, so that it costs as much as it says, however it is nested. Menus and other edges are left out where there is more.
 */
import { type Block, createDraft, oneLine, type Region } from "./page-draft.ts";

export type PageFormat = "markdown" | "text";

interface PageWriter {
  text(text: string): void;
  /** What to call when the element ends. It may never end: pages are written by people. */
  open(tag: string, attribute: Attribute): (() => void) | null;
  /** There is no room for more. */
  readonly isFull: boolean;
  finish(): { readonly title: string; readonly text: string };
}

interface PageWriterOptions {
  readonly format: PageFormat;
  /** Links are made whole with it. */
  readonly baseUrl: string;
  readonly maxChars: number;
  readonly maxElements: number;
}

const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const UNREAD = wordSet(
  "script style noscript template svg math iframe object embed select datalist canvas audio video button textarea",
);
const EDGES = wordSet("nav aside footer header form menu dialog");
const EDGE_ROLES = wordSet("navigation banner contentinfo search complementary menu menubar dialog");
const BLOCKS = wordSet(
  "address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure footer form header hgroup main menu nav p section summary table tbody thead",
);
const STRONG = wordSet("b strong");
const EMPHASIS = wordSet("em i cite");
const CODE = wordSet("code kbd samp tt");
const MAX_QUOTE_DEPTH = 4;
const MAX_TITLE_CHARS = 300;
const MAX_HREF_CHARS = 500;
/** So much of what the page calls its contents is enough to leave out the rest. */
const ENOUGH_CHARS = 200;
const ENOUGH_SHARE = 0.25;

export function createPageWriter(options: PageWriterOptions): PageWriter {
  const counts = new Map<Counted, number>();
  const count = (name: Counted): number => counts.get(name) ?? 0;
  /** Counts while an element is open. */
  const inside = (name: Counted): (() => void) => {
    counts.set(name, count(name) + 1);
    return () => void counts.set(name, count(name) - 1);
  };
  const draft = createDraft({
    rich: options.format === "markdown",
    maxChars: options.maxChars,
    place: () => ({
      region: count("edge") > 0 ? "edge" : count("main") > 0 ? "main" : "body",
      quotes: Math.min(count("quote"), MAX_QUOTE_DEPTH),
    }),
  });
  let elements = 0;
  let title = "";

  return {
    get isFull() {
      return elements > options.maxElements || draft.chars() >= options.maxChars;
    },
    text(text) {
      if (count("title") > 0) title = (title + text).slice(0, MAX_TITLE_CHARS);
      else if (count("unread") === 0) draft.text(text);
    },
    open(tag, attribute) {
      elements++;
      if (tag === "title") return inside("title");
      if (UNREAD.has(tag) || (isHidden(attribute) && !BLOCKS.has(tag))) return inside("unread"); // a part of a line has no region of its own
      const ends = [openBlock(draft, tag) ?? openInline(draft, tag, attribute, options.baseUrl)];
      if (tag === "blockquote") ends.push(inside("quote"));
      if (tag === "main" || tag === "article" || attribute("role") === "main") ends.push(inside("main"));
      if (isEdge(tag, attribute, count("main") > 0)) ends.push(inside("edge"));
      return () => {
        for (const end of ends) end?.(); // the block ends in the region it began in
      };
    },
    finish: () => ({ title: oneLine(title), text: joined(chosen(draft.finish())) }),
  };
}

type PageDraft = ReturnType<typeof createDraft>;
type Attribute = (name: string) => string | null;

function openBlock(draft: PageDraft, tag: string): (() => void) | null {
  if (/^h[1-6]$/.test(tag)) return draft.heading(Number(tag[1]));
  if (tag === "pre") return draft.code();
  if (tag === "ul" || tag === "ol") return draft.list(tag === "ol");
  if (tag === "tr") return draft.row();
  if (tag === "li") draft.item();
  else if (tag === "td" || tag === "th") draft.cell();
  else if (tag === "hr") draft.rule();
  else if (tag === "br") draft.newLine();
  else if (!BLOCKS.has(tag)) return null;
  else {
    draft.breakLine();
    return draft.breakLine;
  }
  return () => undefined; // what ends it is the next of its kind
}

function openInline(draft: PageDraft, tag: string, attribute: Attribute, baseUrl: string): (() => void) | null {
  if (STRONG.has(tag)) return draft.wrap((inner) => `**${inner}**`);
  if (EMPHASIS.has(tag)) return draft.wrap((inner) => `*${inner}*`);
  if (CODE.has(tag)) {
    draft.language(attribute("class"));
    return draft.wrap((inner) => (inner.includes("`") ? inner : `\`${inner}\``));
  }
  if (tag === "img") draft.image(attribute("alt"));
  if (tag !== "a") return null;
  const href = linkOf(attribute("href"), baseUrl);
  return draft.wrap((inner) => (href === null ? inner : `[${inner}](${href})`));
}

/** What a place in the page may be inside of. */
type Counted = "main" | "edge" | "quote" | "unread" | "title";

/** The header of an article is part of it; the header of a page is not. */
function isEdge(tag: string, attribute: Attribute, inMain: boolean): boolean {
  if (tag === "header" && inMain) return false;
  return EDGES.has(tag) || EDGE_ROLES.has(attribute("role") ?? "") || isHidden(attribute);
}

function isHidden(attribute: Attribute): boolean {
  if (attribute("hidden") !== null || attribute("aria-hidden") === "true") return true;
  return /display:\s*none|visibility:\s*hidden/.test(attribute("style") ?? "");
}

function linkOf(href: string | null, baseUrl: string): string | null {
  const url = href === null || href.startsWith("#") ? null : URL.parse(href, baseUrl);
  if (!url || !["http:", "https:", "mailto:"].includes(url.protocol) || url.href.length > MAX_HREF_CHARS) return null;
  return url.href.replaceAll("(", "%28").replaceAll(")", "%29");
}

/** What the page calls its contents, if that is a good part of it; else all but the edges; else everything. */
function chosen(blocks: readonly Block[]): readonly Block[] {
  const only = (...regions: readonly Region[]): readonly Block[] =>
    blocks.filter(({ region }) => regions.includes(region));
  const size = (some: readonly Block[]): number => some.reduce((sum, { text }) => sum + text.length, 0);
  const [main, inner] = [only("main"), only("main", "body")];
  if (size(main) >= ENOUGH_CHARS || size(main) > ENOUGH_SHARE * size(inner)) return main;
  return size(inner) >= ENOUGH_CHARS || size(inner) > ENOUGH_SHARE * size(blocks) ? inner : blocks;
}

function joined(blocks: readonly Block[]): string {
  return blocks
    .map(({ kind, text }, at) => {
      const together = kind === blocks[at - 1]?.kind && (kind === "item" || kind === "row");
      return at === 0 ? text : `${together ? "\n" : "\n\n"}${text}`;
    })
    .join("");
}
