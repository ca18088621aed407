/**
 * Where an error comes from in the files of a plugin's author. A plugin is loaded from a copy of its folder, so stacks and messages name files
 * that its author has never seen; this puts the author's own in their place.
 */

export interface SourceLocation {
  /** "/home/me/plugins/hello/index.ts:12:5"; null: the error does not come from the plugin's files. */
  of(error: unknown): string | null;
  /** The same with the author's files in its stack, for logs. */
  shown(error: unknown): unknown;
  /** The same text with the author's files in it. */
  text(message: string): string;
}

/** For plugins without a folder, which are part of the gateway. */
export const NO_LOCATION: SourceLocation = { of: () => null, shown: (error) => error, text: (message) => message };

const COPIES = "/run/plugins/";
const PLACE = /^([^\s():]+:\d+:\d+)/;

interface Copied {
  /** The author's. */
  readonly folder: string;
  /** By their path inside of it. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** `copy`: the folder it is loaded from. */
export function createSourceLocation(copy: string, { folder, files }: Copied): SourceLocation {
  // from here on: a state directory that is reached over a link has another beginning in stacks
  const end = `${copy.slice(copy.lastIndexOf(COPIES))}/`;
  const copies = new RegExp(`(?:file://)?/[^\\s()'"]*?${RegExp.escape(end)}`, "g");
  const text = (message: string): string => message.replaceAll(copies, `${folder}/`);
  return {
    of(error) {
      const spot = text(missingImport(error, (path) => contentOf(files, text(path), folder)) ?? spotOf(error) ?? "");
      const at = spot.indexOf(`${folder}/`);
      const found = at < 0 ? null : PLACE.exec(spot.slice(at + folder.length + 1));
      return found ? `${folder}/${found[1]}` : null;
    },
    shown(error) {
      if (error instanceof Error && typeof error.stack === "string") error.stack = text(error.stack);
      return error;
    },
    text,
  };
}

function contentOf(files: Copied["files"], path: string, folder: string): string | null {
  const content = path.startsWith(`${folder}/`) ? files.get(path.slice(folder.length + 1)) : undefined;
  return content ? Buffer.from(content).toString("utf8") : null;
}

/** An import of something that is not there has a file and no line: the first line that names it is the one. */
function missingImport(error: unknown, read: (path: string) => string | null): string | null {
  if (typeof error !== "object" || error === null) return null;
  const { specifier, referrer } = error as { readonly specifier?: unknown; readonly referrer?: unknown };
  if (typeof specifier !== "string" || typeof referrer !== "string") return null;
  const content = read(referrer) ?? "";
  const before = content.slice(0, Math.max(0, content.indexOf(specifier))).split("\n");
  return `${referrer}:${before.length}:${(before.at(-1) ?? "").length + 1}`;
}

/** What the compiler says about a file it could not read, or else the stack. */
function spotOf(error: unknown): string | null {
  if (typeof error !== "object" || error === null) return null;
  const { position, errors } = error as { readonly position?: unknown; readonly errors?: unknown };
  if (typeof position === "object" && position !== null) {
    const { file, line, column } = position as Readonly<Record<string, unknown>>;
    return `${String(file)}:${String(line)}:${String(column)}`;
  }
  if (Array.isArray(errors) && errors.length > 0) return spotOf(errors[0]);
  return error instanceof Error ? (error.stack ?? null) : null;
}
