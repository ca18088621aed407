/** One page of the documentation as HTML: headings with anchors as code hosts make them, links of the site, coloured code. Raw HTML is shown as text, but for comments, which are left out. Pure. */
import { Marked, type Token, type Tokens } from "marked";
import { type SitePage, targetOf } from "./pages.ts";

interface Highlighter {
  getLanguage(name: string): object | undefined;
  highlight(code: string, options: { readonly language: string }): { readonly value: string };
}

const HIGHLIGHT_JS: string = "highlight.js/lib/common"; // not a plain import: its types bring those of a browser into every file
const { default: hljs } = (await import(HIGHLIGHT_JS)) as { readonly default: Highlighter };

export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly anchor: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
}

const LANGUAGES: Readonly<Record<string, string>> = { sh: "bash", jsonc: "json", ts: "typescript", js: "javascript" };

export function renderPage(pages: ReadonlyMap<string, SitePage>, page: SitePage, markdown: string): RenderedPage {
  const headings: Heading[] = [];
  const slugs = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const text = plainText(tokens);
        const anchor = uniqueSlug(slugs, text);
        headings.push({ depth, text, anchor });
        const link =
          depth === 1 ? "" : ` <a class="anchor" href="#${anchor}" aria-label="Link to ${escaped(text)}">#</a>`;
        return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const inner = this.parser.parseInline(tokens);
        const target = targetOf(pages, page, href);
        if (target.kind === "outside") return `<a href="${escaped(href)}" rel="noreferrer">${inner}</a>`;
        if (target.kind === "source") return `<span class="source" title="${escaped(target.file)}">${inner}</span>`;
        if (target.kind === "picture") return `<a href="${escaped(target.address)}">${inner}</a>`;
        const address = target.page === page && target.anchor !== "" ? "" : target.page.address;
        return `<a href="${escaped(`${address}${target.anchor === "" ? "" : `#${target.anchor}`}`)}">${inner}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        const target = targetOf(pages, page, href);
        if (target.kind !== "picture") return escaped(text); // nothing is read from outside
        return `<img src="${escaped(target.address)}" alt="${escaped(text)}" loading="lazy">`;
      },
      code({ text, lang }: Tokens.Code) {
        const name = (lang ?? "").split(/\s/)[0] ?? "";
        const language = LANGUAGES[name] ?? name;
        const shown = hljs.getLanguage(language) ? hljs.highlight(text, { language }).value : escaped(text);
        return `<pre tabindex="0"><code>${shown}</code></pre>\n`;
      },
      table(token: Tokens.Table) {
        const row = (cells: readonly Tokens.TableCell[], tag: string) =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("")}</tr>`;
        const body = token.rows.map((cells) => row(cells, "td")).join("\n");
        return `<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table><thead>${row(token.header, "th")}</thead><tbody>${body}</tbody></table></div>\n`;
      },
      html: ({ text }: Tokens.HTML | Tokens.Tag) => (/^\s*<!--[^]*-->\s*$/.test(text) ? "" : escaped(text)),
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { title: headings.find(({ depth }) => depth === 1)?.text ?? page.file, html, headings };
}

/** The words of inline Markdown without its marks. */
function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => ("tokens" in token && token.tokens ? plainText(token.tokens) : "text" in token ? token.text : ""))
    .join("");
}

/** As code hosts make an anchor of a heading: the second of a name has -1 behind it. */
function uniqueSlug(taken: Map<string, number>, text: string): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
  const count = taken.get(slug) ?? 0;
  taken.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
