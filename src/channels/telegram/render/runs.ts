/** Text with styles, as runs; and what Telegram wants instead: text and entities, properly nested, nothing inside code. */
export type StyleType = "bold" | "italic" | "strikethrough" | "spoiler" | "code" | "pre" | "text_link" | "blockquote";

/** One object per place in the source: two neighbours of the same type stay two. */
export interface Style {
  readonly type: StyleType;
  readonly url?: string;
  readonly language?: string;
}

export interface Run {
  readonly text: string;
  /** From the outermost to the innermost. */
  readonly styles: readonly Style[];
}

export interface Entity {
  readonly type: StyleType;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

interface Open {
  readonly style: Style;
  readonly from: number;
}

/** Code holds nothing, and is held by nothing but a quotation; no type is inside itself. */
function allowed(styles: readonly Style[]): readonly Style[] {
  const code = styles.find(({ type }) => type === "pre") ?? styles.find(({ type }) => type === "code");
  const kept = code ? styles.filter((style) => style === code || style.type === "blockquote") : styles;
  return kept.filter((style, at) => kept.findIndex(({ type }) => type === style.type) === at);
}

export function entitiesOf(runs: readonly Run[]): readonly Entity[] {
  const entities: Entity[] = [];
  let open: Open[] = [];
  let at = 0;
  const close = (from: number): void => {
    for (const { style, from: offset } of open.slice(from).toReversed())
      if (at > offset) entities.push(toEntity(style, offset, at - offset));
    open = open.slice(0, from);
  };
  for (const { text, styles } of runs) {
    if (text === "") continue;
    const wanted = allowed(styles);
    const gone = open.findIndex(({ style }) => !wanted.includes(style));
    if (gone >= 0) close(gone); // whatever was opened inside it ends with it, and is opened again below
    // a style that is new but lies outside of one that is open cannot be added around it: it follows inside
    for (const style of wanted) if (!open.some((one) => one.style === style)) open.push({ style, from: at });
    at += text.length;
  }
  close(0);
  return entities.toSorted((a, b) => a.offset - b.offset || b.length - a.length);
}

function toEntity(style: Style, offset: number, length: number): Entity {
  return {
    type: style.type,
    offset,
    length,
    ...(style.url === undefined ? {} : { url: style.url }),
    ...(style.language === undefined ? {} : { language: style.language }),
  };
}

export const textOf = (runs: readonly Run[]): string => runs.map(({ text }) => text).join("");

/** The runs of a part of the text. */
export function cutRuns(runs: readonly Run[], from: number, to: number): readonly Run[] {
  const cut: Run[] = [];
  let at = 0;
  for (const run of runs) {
    const start = Math.max(from, at);
    const end = Math.min(to, at + run.text.length);
    if (start < end) cut.push({ text: run.text.slice(start - at, end - at), styles: run.styles });
    at += run.text.length;
    if (at >= to) break;
  }
  return cut;
}
