/** One line of the protocol, read and written. What is written can hold one command only, whatever its words contain. Pure. */

export interface Line {
  readonly tags: ReadonlyMap<string, string>;
  readonly prefix: Prefix | null;
  /** Upper case, or three digits. */
  readonly command: string;
  readonly params: readonly string[];
}

/** `user` and `host` are empty for a server, and wherever the network leaves them out. */
export interface Prefix {
  readonly nick: string;
  readonly user: string;
  readonly host: string;
}

/** The whole of a line, with its end. Tags are counted apart. */
export const MAX_LINE_BYTES = 512;
const MAX_PARAMS = 15;
const ESCAPES: Readonly<Record<string, string>> = { ":": ";", s: " ", "\\": "\\", r: "\r", n: "\n" };
const COMMAND = /^(?:[A-Za-z]+|\d{3})$/;

/** Null: it is no line of the protocol. */
export function parseLine(text: string): Line | null {
  let rest = text.replace(/[\r\n]+$/, "");
  const tags = new Map<string, string>();
  if (rest.startsWith("@")) {
    const [word, after] = firstWord(rest.slice(1));
    readTags(word, tags);
    rest = after;
  }
  let prefix: Prefix | null = null;
  if (rest.startsWith(":")) {
    const [word, after] = firstWord(rest.slice(1));
    prefix = parsePrefix(word);
    rest = after;
  }
  const [command, after] = firstWord(rest);
  if (!COMMAND.test(command)) return null;
  return { tags, prefix, command: command.toUpperCase(), params: readParams(after) };
}

function firstWord(text: string): readonly [string, string] {
  const space = text.indexOf(" ");
  return space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space).replace(/^ +/, "")];
}

function readTags(text: string, tags: Map<string, string>): void {
  for (const tag of text.split(";")) {
    const at = tag.indexOf("=");
    const name = at < 0 ? tag : tag.slice(0, at);
    if (name !== "") tags.set(name, unescapeTag(at < 0 ? "" : tag.slice(at + 1)));
  }
}

function unescapeTag(value: string): string {
  return value.replace(/\\(.?)/g, (_whole, letter: string) => ESCAPES[letter] ?? letter);
}

function readParams(text: string): readonly string[] {
  const params: string[] = [];
  for (let rest = text; rest !== "";) {
    if (rest.startsWith(":") || params.length === MAX_PARAMS - 1) return [...params, rest.replace(/^:/, "")];
    const [word, after] = firstWord(rest);
    params.push(word);
    rest = after;
  }
  return params;
}

export function parsePrefix(text: string): Prefix {
  const at = text.lastIndexOf("@");
  const before = at < 0 ? text : text.slice(0, at);
  const bang = before.indexOf("!");
  return {
    nick: bang < 0 ? before : before.slice(0, bang),
    user: bang < 0 ? "" : before.slice(bang + 1),
    host: at < 0 ? "" : text.slice(at + 1),
  };
}

/**
 * A command as it goes over the wire, without its end. The last parameter may hold spaces. Throws when a parameter could become a second
 * line, a second parameter or nothing at all: that is a mistake of the caller and never sent.
 */
export function formatLine(command: string, ...params: readonly string[]): string {
  const last = params.length - 1;
  const words = params.map((param, at) => {
    if (/[\0\r\n]/.test(param)) throw new Error(`a parameter of ${command} holds the end of a line`);
    const plain = param !== "" && !param.startsWith(":") && !param.includes(" ");
    if (at < last && !plain) throw new Error(`a parameter of ${command} is not one word`);
    return at < last || plain ? param : `:${param}`;
  });
  const line = [command, ...words].join(" ");
  if (Buffer.byteLength(line) + 2 > MAX_LINE_BYTES) throw new Error(`a line of ${command} is too long`);
  return line;
}
