/** Settings of a server from the words of a command: a program, or an address. What they mean is checked where they are written or tried. */
import { statSync } from "node:fs";
import { resolve } from "node:path";

export interface OwnServerFlags {
  readonly url?: string;
  readonly header?: readonly string[];
  readonly oauth?: boolean;
  readonly env?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly folder?: readonly string[];
}

const SCRIPT = /\.(?:[cm]?[jt]s|py|rb|sh)$/;

/** Null: there is neither an address nor a program, or there are both. */
export function ownSettings(
  cwd: string,
  command: readonly string[],
  flags: OwnServerFlags,
): Readonly<Record<string, unknown>> | null {
  const { url, header = [], env = [], allowHost = [], folder = [], oauth } = flags;
  const [program, ...args] = command.map((word) => wholePath(cwd, word));
  if ((url === undefined) === (program === undefined)) return null;
  if (url !== undefined)
    return { url, ...(header.length > 0 ? { headers: pairs(header) } : {}), ...(oauth === true ? { oauth: {} } : {}) };
  return {
    command: program,
    args,
    ...(env.length > 0 ? { env: pairs(env) } : {}),
    ...(allowHost.length > 0 ? { network: { allow: allowHost } } : {}),
    ...(folder.length > 0 ? { folders: folder.map(folderOf) } : {}),
  };
}

/** The gateway runs in another folder. A word that names no file here stays as it is. */
function wholePath(cwd: string, word: string): string {
  const path = resolve(cwd, word);
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile && (word.includes("/") || SCRIPT.test(word)) ? path : word;
}

/** `/path` to read, `/path:write` to write as well. */
function folderOf(text: string): object {
  const path = text.replace(/:(?:read|write)$/, "");
  return { path, access: text.endsWith(":write") ? "write" : "read" };
}

export function pairs(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(texts.map((text) => [text.split("=", 1)[0] ?? "", text.slice(text.indexOf("=") + 1)]));
}
