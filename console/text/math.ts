/** Formulas in Markdown: found while it is read, and written as MathML by KaTeX, which is loaded when there is one. No fonts and no styles come with it. */
import type { MarkedExtension, Tokens } from "marked";

/** Gives null when it cannot be read; then the text stays as it was written. */
export type WriteMath = (tex: string, display: boolean) => string | null;

const MAX_FORMULA_CHARS = 5_000;
const BLOCKS = [/^\$\$((?:\\[\s\S]|[^\\$])+)\$\$ *(?:\n+|$)/, /^\\\[([\s\S]+?)\\\] *(?:\n+|$)/];
/** `$` only where prices cannot be meant: no space inside of it, and no digit behind. */
const INLINES = [
  { pattern: /^\$\$((?:\\.|[^\\$\n])+)\$\$/, display: true },
  { pattern: /^\$(?![\s$])((?:\\.|[^\\$\n])*(?:\\.|[^\\$\s]))\$(?![\d$])/, display: false },
  { pattern: /^\\\(([\s\S]+?)\\\)/, display: false },
  { pattern: /^\\\[([\s\S]+?)\\\]/, display: true },
];
const BEGINS = /\$|\\\(|\\\[/;
const BLOCK_BEGINS = /(?<=\n)(?:\$\$|\\\[)/;

export const MATH_NAMES = ["mathBlock", "mathInline"] as const;

interface MathToken extends Tokens.Generic {
  readonly text: string;
  readonly display: boolean;
}

/** `write`: null until KaTeX is there. */
export function mathExtension(write: WriteMath | null): MarkedExtension {
  const renderer = (token: Tokens.Generic): string => written(token as MathToken, write);
  return {
    extensions: [
      {
        name: MATH_NAMES[0],
        level: "block",
        start: (source) => BLOCK_BEGINS.exec(source)?.index,
        tokenizer(source) {
          const found = BLOCKS.map((pattern) => pattern.exec(source)).find((one) => one !== null);
          return found ? mathToken(MATH_NAMES[0], found, true) : undefined;
        },
        renderer: (token) => `<p>${renderer(token)}</p>\n`,
      },
      {
        name: MATH_NAMES[1],
        level: "inline",
        start: (source) => BEGINS.exec(source)?.index,
        tokenizer(source) {
          for (const { pattern, display } of INLINES) {
            const found = pattern.exec(source);
            if (found) return mathToken(MATH_NAMES[1], found, display);
          }
          return undefined;
        },
        renderer,
      },
    ],
  };
}

function mathToken(type: string, [raw, text = ""]: RegExpExecArray, display: boolean): MathToken | undefined {
  return text.trim() === "" ? undefined : { type, raw, text: text.trim(), display };
}

function written({ raw, text, display }: MathToken, write: WriteMath | null): string {
  const math = text.length <= MAX_FORMULA_CHARS ? (write?.(text, display) ?? null) : null;
  return math ?? `<code>${raw.trim().replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</code>`;
}

/** What MathML needs besides what every message may have. `annotation-xml` and `mglyph` are not among it: they lead out of MathML. */
export const MATH_TAGS = [
  ...["annotation", "math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow"],
  ...["ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder"],
  ...["munderover", "semantics"],
];
export const MATH_ATTRIBUTES = [
  ...["accent", "accentunder", "columnalign", "columnlines", "columnspacing", "depth", "display", "displaystyle"],
  ...["encoding", "fence", "height", "largeop", "linethickness", "lspace", "mathbackground", "mathcolor", "mathsize"],
  ...["mathvariant", "maxsize", "minsize", "movablelimits", "notation", "rowalign", "rowlines", "rowspacing", "rspace"],
  ...["scriptlevel", "separator", "stretchy", "symmetric", "voffset", "width", "xmlns"],
];
