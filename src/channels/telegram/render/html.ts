/** The few tags Telegram knows → styled text. Unknown tags are shown as they were written; nothing is ever sent as markup. */
import type { Run, Style, StyleType } from "./runs.ts";

const TYPES: Readonly<Record<string, StyleType>> = {
  b: "bold",
  strong: "bold",
  i: "italic",
  em: "italic",
  s: "strikethrough",
  strike: "strikethrough",
  del: "strikethrough",
  "tg-spoiler": "spoiler",
  code: "code",
  pre: "pre",
  a: "text_link",
  blockquote: "blockquote",
};
const TAG = /<(\/?)([a-z][a-z-]*)(\s[^<>]*)?>|<br\s*\/?>/gi;
const HREF = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)')/i;
const SAFE_URL = /^(?:https?:\/\/|tg:\/\/|mailto:|tel:)\S+$/i;
const LETTERS: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };
const MAX_DEPTH = 16;

interface Open {
  readonly tag: string;
  readonly style: Style;
}

export function renderHtml(source: string): readonly Run[] {
  const runs: Run[] = [];
  const open: Open[] = [];
  let at = 0;
  const say = (text: string): void => {
    if (text !== "") runs.push({ text: unescaped(text), styles: open.map(({ style }) => style) });
  };
  for (const found of source.matchAll(TAG)) {
    const [whole, slash, name = "", attributes = ""] = found;
    const tag = name.toLowerCase();
    const style = slash === "" ? styleOf(tag, attributes) : null;
    const isBreak = tag === "" || tag === "br";
    const from = slash === "/" ? open.findLastIndex((one) => one.tag === tag) : -1;
    if (!isBreak && !style && from < 0) continue; // not one of ours: it stays text
    say(source.slice(at, found.index));
    at = found.index + whole.length;
    if (isBreak) runs.push({ text: "\n", styles: open.map((one) => one.style) });
    else if (style && open.length < MAX_DEPTH) open.push({ tag, style });
    else if (from >= 0) open.splice(from);
  }
  say(source.slice(at));
  return runs;
}

function styleOf(tag: string, attributes: string): Style | null {
  const type = TYPES[tag];
  if (type === undefined) return null;
  if (type !== "text_link") return { type };
  const [, double, single] = HREF.exec(attributes) ?? [];
  const url = unescaped(double ?? single ?? "");
  return SAFE_URL.test(url) && URL.canParse(url) ? { type, url } : null;
}

function unescaped(text: string): string {
  return text.replaceAll(/&(lt|gt|amp|quot);/g, (whole, name: string) => LETTERS[name] ?? whole);
}
