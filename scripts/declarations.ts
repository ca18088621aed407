/**
 * Writes one `.d.ts` file for a module of the SDK: its exports and every type they need, gathered from the sources by name. Works for the way
 * this house is written: one declaration begins at the start of a line, types are imported by name, exported values say their type. Anything
 * else is refused by name, so that a build never ships half a declaration.
 */
import { dirname, join, relative, resolve } from "node:path";

type Kind = "interface" | "type" | "const";

interface Declaration {
  readonly name: string;
  readonly kind: Kind;
  /** With its comment, without `export`. */
  readonly text: string;
  readonly file: string;
}

interface Target {
  readonly file: string;
  readonly name: string;
}

interface Source {
  readonly declarations: ReadonlyMap<string, Declaration>;
  /** Names that come from other files, by what they are called here. */
  readonly imports: ReadonlyMap<string, Target>;
  /** Exported names, with where they come from. */
  readonly exports: ReadonlyMap<string, Target>;
}

const BEGINS = /^(?:\/\*\*|\/\/|export |import |interface |type |const |class |function |async |abstract |let )/;
const DECLARES = /^(export )?(?:abstract )?(interface|type|const|class|function|async function) (\w+)/;
const NAMED = /^(import|export)(?: type)? \{([^}]*)\} from "(\.[^"]+)";/;

export async function declarationsOf(root: string, entry: string): Promise<string> {
  const sources = new Map<string, Source>();
  const sourceOf = async (file: string): Promise<Source> => {
    const known = sources.get(file) ?? (await readSource(file));
    sources.set(file, known);
    return known;
  };
  const needed = new Map<string, Declaration>();
  const add = async ({ file, name }: Target): Promise<void> => {
    const source = await sourceOf(file);
    const other = source.declarations.has(name) ? undefined : (source.imports.get(name) ?? source.exports.get(name));
    if (other) return add(other);
    const declaration = source.declarations.get(name);
    if (!declaration) throw new Error(`${relative(root, file)} has no ${name} that can be declared`);
    const before = needed.get(name);
    if (before === declaration) return;
    if (before) throw new Error(`${name} is declared in ${relative(root, before.file)} and ${relative(root, file)}`);
    needed.set(name, declaration);
    for (const used of namesIn(declaration.text))
      if (used !== name && (source.declarations.has(used) || source.imports.has(used))) await add({ file, name: used });
  };
  const start = join(root, entry);
  const { exports } = await sourceOf(start);
  for (const target of exports.values()) await add(target);
  const texts = await Promise.all([...needed.values()].map(ambient));
  const kinds = [...exports.keys()].map((name) => (needed.get(name)?.kind === "const" ? name : `type ${name}`));
  return `// Made from ${entry} by npm run build.\n\n${texts.join("\n\n")}\n\nexport { ${kinds.join(", ")} };\n`;
}

async function readSource(file: string): Promise<Source> {
  const declarations = new Map<string, Declaration>();
  const imports = new Map<string, Target>();
  const exports = new Map<string, Target>();
  for (const { comment, text } of statementsOf(await Bun.file(file).text())) {
    const [, how = "", names = "", from = ""] = NAMED.exec(text) ?? [];
    for (const [local, name] of namesOf(names))
      (how === "import" ? imports : exports).set(local, { file: resolve(dirname(file), from), name });
    const [, exported, kind = "", name = ""] = DECLARES.exec(text) ?? [];
    if (kind !== "interface" && kind !== "type" && kind !== "const") continue;
    const plain = text.replace(/^export /, "");
    declarations.set(name, { name, kind, file, text: `${comment}${kind === "const" ? beginningOf(plain) : plain}` });
    if (exported) exports.set(name, { file, name });
  }
  return { declarations, imports, exports };
}

/** Of a constant: its name, and its type where it has one of a single word. What it is made of is nobody's affair. */
function beginningOf(text: string): string {
  return /^const \w+(?:: \w+(?= =))?/.exec(text)?.[0] ?? text;
}

interface Statement {
  readonly comment: string;
  readonly text: string;
}

/** From one line that begins a statement to the next; a comment belongs to what follows it. */
function statementsOf(source: string): readonly Statement[] {
  const pieces: string[] = [];
  for (const line of source.split("\n")) {
    if (BEGINS.test(line) || pieces.length === 0) pieces.push(line);
    else pieces[pieces.length - 1] += `\n${line}`;
  }
  let comment = "";
  return pieces.flatMap((piece) => {
    if (piece.startsWith("/**")) comment = `${piece.trimEnd()}\n`;
    if (piece.startsWith("/**") || piece.startsWith("//")) return [];
    const statement = { comment, text: piece.trimEnd() };
    comment = "";
    return [statement];
  });
}

/** `A, type B, C as D` by their names here. */
function namesOf(list: string): readonly (readonly [string, string])[] {
  const parts = list.split(",").map((part) => part.trim().replace(/^type /, ""));
  return parts.flatMap((part) => {
    const [name = "", local = name] = part.split(" as ");
    return name === "" ? [] : [[local, name] as const];
  });
}

function namesIn(text: string): ReadonlySet<string> {
  const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*|"[^"\n]*"/g, " ");
  return new Set(code.match(/[A-Za-z_$][\w$]*/g) ?? []);
}

async function ambient({ name, kind, text, file }: Declaration): Promise<string> {
  if (kind !== "const") return text;
  const declared = text.replace(/(^|\n)const /, "$1declare const ");
  if (text.includes(`const ${name}: `)) return `${declared};`;
  const module = (await import(file)) as Readonly<Record<string, unknown>>;
  return `${declared}: ${literalType(module[name])};`;
}

/** The type of a constant that was written `as const`. Of a table only its keys are told. */
function literalType(value: unknown): string {
  if (Array.isArray(value)) return `readonly [${value.map(literalType).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `Readonly<Record<${Object.keys(value)
    .map((key) => JSON.stringify(key))
    .join(" | ")}, unknown>>`;
}
