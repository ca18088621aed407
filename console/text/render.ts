/** Markdown to HTML that is harmless by construction: raw HTML becomes text, links are checked, foreign images become links. */
import { Marked, type Token, type Tokens } from "marked";
import { mathExtension, type WriteMath } from "./math.ts";

export type Highlight = (code: string, language: string) => string | null;

/** Colouring longer code would be felt while it streams in; it is shown plain. */
const MAX_HIGHLIGHT_CHARS = 20_000;
const LANGUAGE = /^[A-Za-z0-9+#_.-]{1,24}$/;
const SAFE_SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** The address as it may stand in a link, or null when it leads anywhere but the web or a mail program. */
export function safeHref(href: string): string | null {
  if (!URL.canParse(href)) return null; // relative addresses would lead into the gateway itself
  const url = new URL(href);
  return SAFE_SCHEMES.has(url.protocol) ? url.href : null;
}

export function createRenderer(highlight: Highlight | null, math: WriteMath | null): (token: Token) => string {
  const marked = new Marked({ gfm: true, breaks: true, async: false });
  marked.use(mathExtension(math));
  marked.use({
    renderer: {
      html: (token) => (/^<br\s*\/?>$/i.test(token.text.trim()) ? "<br>" : escapeHtml(token.text)),
      code: (token) => codeBlock(token, highlight),
      codespan: (token) => `<code>${escapeHtml(token.text)}</code>`,
      link(token) {
        return anchor(token.href, this.parser.parseInline(token.tokens));
      },
      image: (token) => anchor(token.href, `Image: ${escapeHtml(token.text || token.href)}`),
      checkbox: (token) =>
        `<span class="task${token.checked ? " done" : ""}" role="img" aria-label="${token.checked ? "done" : "open"}"></span> `,
      table(token) {
        return tableOf(token, (tokens) => this.parser.parseInline(tokens));
      },
    },
  });
  return (token) => String(marked.parser([token]));
}

function anchor(href: string, inner: string): string {
  const safe = safeHref(href);
  return safe ? `<a href="${escapeHtml(safe)}" target="_blank" rel="noopener noreferrer">${inner}</a>` : inner;
}

function codeBlock(token: Tokens.Code, highlight: Highlight | null): string {
  const named = (token.lang ?? "").trim().split(/\s/)[0] ?? "";
  const language = LANGUAGE.test(named) ? named : "";
  const short = token.text.length <= MAX_HIGHLIGHT_CHARS;
  const coloured = short && language && highlight ? highlight(token.text, language) : null;
  return `<div class="code"><div class="code-head"><span>${escapeHtml(language || "text")}</span><button type="button" data-copy="code" class="quiet small">Copy</button></div><pre tabindex="0"><code>${coloured ?? escapeHtml(token.text)}</code></pre></div>`;
}

function tableOf(token: Tokens.Table, inline: (tokens: Token[]) => string): string {
  const cell = (tag: "th" | "td") => (one: Tokens.TableCell) =>
    `<${tag}${one.align ? ` align="${one.align}"` : ""}>${inline(one.tokens)}</${tag}>`;
  const head = token.header.map(cell("th")).join("");
  const rows = token.rows.map((row) => `<tr>${row.map(cell("td")).join("")}</tr>`).join("");
  return `<div class="table" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
}
