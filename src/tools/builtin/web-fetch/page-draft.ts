/** The blocks of a page so far, and the one that is being written: paragraphs, items, rows of tables, code. Knows nothing of HTML. */

/** `edge`: menus, footers, forms. `main`: what the page itself calls its contents. */
export type Region = "main" | "body" | "edge";
type Kind = "text" | "item" | "row" | "code";

export interface Block {
  readonly region: Region;
  readonly kind: Kind;
  readonly text: string;
}

interface Place {
  readonly region: Region;
  /** How many quotations are open. */
  readonly quotes: number;
}

interface DraftOptions {
  /** With the signs of Markdown. */
  readonly rich: boolean;
  readonly maxChars: number;
  place(): Place;
}

interface Draft extends DraftOptions {
  readonly blocks: Block[];
  readonly lists: { readonly ordered: boolean; items: number }[];
  line: string;
  /** The line ends with a space. Kept apart: looking at the end of a long text that grows would copy it each time. */
  spaced: boolean;
  /** What the block begins with, such as "## ". */
  mark: string;
  kind: Kind;
  /** Cells of the row that is being written. */
  row: string[] | null;
  rows: number;
  /** The language of the code that is being written; empty: not known; null: it is no code. */
  fence: string | null;
  chars: number;
}

const MAX_LIST_DEPTH = 6;

export const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\s]+/gu, " ").trim();

export function createDraft(options: DraftOptions) {
  const draft: Draft = {
    ...options,

    blocks: [],
    lists: [],
    line: "",
    spaced: false,
    mark: "",
    kind: "text",
    row: null,
    rows: 0,
    fence: null,
    chars: 0,
  };
  const breakLine = (): void => endLine(draft);
  return {
    breakLine,
    chars: () => draft.chars + draft.line.length,
    text: (text: string) => addText(draft, text),
    newLine(): void {
      if (draft.line !== "") draft.line += "\n";
      draft.spaced = true;
    },
    heading(level: number) {
      begin(draft, "text", draft.rich ? `${"#".repeat(level)} ` : "");
      return breakLine;
    },
    code() {
      begin(draft, "code", "");
      draft.fence = "";
      return () => endCode(draft);
    },
    language(className: string | null): void {
      const [, name] = /\blang(?:uage)?-([\w+#.-]{1,20})/.exec(className ?? "") ?? [];
      if (draft.fence === "" && name !== undefined) draft.fence = name;
    },
    list: (ordered: boolean) => openList(draft, ordered),
    item(): void {
      const list = draft.lists.at(-1);
      if (list) list.items++;
      const bullet = list?.ordered ? `${list.items}. ` : "- ";
      begin(draft, "item", `${"  ".repeat(Math.max(0, draft.lists.length - 1))}${bullet}`);
    },
    row() {
      endRow(draft);
      endLine(draft);
      draft.row = [];
      return () => endRow(draft);
    },
    cell: () => endCell(draft),
    rule(): void {
      begin(draft, "text", "");
      if (draft.rich) push(draft, "---", "text");
    },
    image(alt: string | null): void {
      const words = oneLine(alt ?? "");
      if (words !== "") draft.line += `[image: ${words}] `;
    },
    wrap: (made: (inner: string) => string) => openWrap(draft, made),
    finish(): readonly Block[] {
      if (draft.fence === null) begin(draft, "text", "");
      else endCode(draft);
      return draft.blocks;
    },
  };
}

function push(draft: Draft, text: string, kind: Kind): void {
  const { region, quotes } = draft.place();
  const lines = quotes === 0 ? text : text.replaceAll(/^/gm, "> ".repeat(quotes));
  draft.blocks.push({ region, kind, text: lines });
  draft.chars += lines.length;
}

function addText(draft: Draft, text: string): void {
  const room = Math.max(0, draft.maxChars - draft.chars - draft.line.length);
  const plain = draft.fence === null ? text.replaceAll(/[\p{Cc}\s]+/gu, " ") : text;
  const added = draft.fence === null && (draft.line === "" || draft.spaced) ? plain.trimStart() : plain;
  if (added === "") return;
  draft.line += added.slice(0, room);
  draft.spaced = added.endsWith(" ");
}

function begin(draft: Draft, kind: Kind, mark: string): void {
  endRow(draft);
  endLine(draft);
  draft.mark = mark;
  draft.kind = kind;
}

function endLine(draft: Draft): void {
  if (draft.fence !== null) draft.line += "\n";
  if (draft.fence === null && draft.row && !draft.spaced) draft.line += draft.line === "" ? "" : " ";
  draft.spaced = true;
  if (draft.fence !== null || draft.row) return;
  const text = draft.line.replaceAll(/ *\n */g, "\n").trim();
  draft.line = "";
  if (text === "") return;
  const indent = " ".repeat(draft.kind === "item" ? draft.mark.length : 0);
  push(draft, draft.mark + text.replaceAll("\n", `\n${indent}`), draft.kind);
  draft.mark = "";
  draft.kind = "text";
}

function endCode(draft: Draft): void {
  const code = draft.line.replace(/^\n/, "").trimEnd();
  const longest = Math.max(2, ...[...code.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const ticks = "`".repeat(longest + 1);
  if (code !== "") push(draft, draft.rich ? `${ticks}${draft.fence ?? ""}\n${code}\n${ticks}` : code, "code");
  draft.line = "";
  draft.fence = null;
}

function openList(draft: Draft, ordered: boolean): () => void {
  begin(draft, "text", "");
  if (draft.lists.length >= MAX_LIST_DEPTH) return () => endLine(draft);
  const own = { ordered, items: 0 };
  draft.lists.push(own);
  return () => {
    endLine(draft);
    const at = draft.lists.indexOf(own);
    if (at >= 0) draft.lists.length = at;
  };
}

function endCell(draft: Draft): void {
  if (draft.row && draft.line.trim() !== "") draft.row.push(oneLine(draft.line).replaceAll("|", "\\|"));
  draft.line = draft.row ? "" : draft.line;
}

/** A row of one cell is there for the looks, and is a paragraph. */
function endRow(draft: Draft): void {
  if (!draft.row) return;
  endCell(draft);
  const [cells, isRich] = [draft.row, draft.rich];
  draft.row = null;
  if (cells.length === 1) push(draft, cells[0] ?? "", "text");
  if (cells.length < 2) return;
  push(draft, isRich ? `| ${cells.join(" | ")} |` : cells.join(" | "), "row");
  if (draft.rows++ === 0 && isRich) push(draft, `|${" --- |".repeat(cells.length)}`, "row");
}

/** For the text between here and the end, if both are in one block and there is any. */
function openWrap(draft: Draft, made: (inner: string) => string): () => void {
  const [from, at] = [draft.blocks.length, draft.line.length];
  return () => {
    const inner = draft.line.slice(at);
    if (!draft.rich || draft.fence !== null || from !== draft.blocks.length || inner.trim() === "") return;
    const before = /^\s*/.exec(inner)?.[0] ?? "";
    const after = /\s*$/.exec(inner)?.[0] ?? "";
    draft.line = draft.line.slice(0, at) + before + made(inner.trim().replaceAll("\n", " ")) + after;
  };
}
