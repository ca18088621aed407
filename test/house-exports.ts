/**
 * Finds names that are exported for nobody. A name of src, bridge or console is exported only if another file of the project imports it, types
 * as well; an index.ts imports nothing by handing a name on, until that name of the index.ts is imported in turn.
 */
import { posix } from "node:path";
import { roomOf } from "./house.ts";
import { PLUGIN_CONTRACTS } from "./house-plan.ts";
import { lineAt, matching, type Source } from "./house-source.ts";

/** A name of a file, whether it is defined there or handed on from another file. */
interface Exported {
  readonly name: string;
  readonly line: number;
  /** Where the name comes from, when the file only hands it on. */
  readonly from: Taken | null;
}

interface Taken {
  readonly path: string;
  /** `*`: everything, because the way it is used cannot be seen. */
  readonly name: string;
}

const BECAUSE = "no file imports it; whoever changes it would look for users that are not there";
const DEFINITION =
  /\bexport\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|const|let|class|interface|type|enum)\s+(\w+)/g;
const LIST = /\bexport\s+(?:type\s+)?\{([^}]*)\}(\s*from\s*["'])?/g;
const STATIC = /\bimport\s+(?:type\s+)?(\w+\s*,\s*)?(\{[^}]*\}|\*\s*as\s+\w+|\w+)\s+from\s*["']/g;
const DYNAMIC = /\bimport\s*\(\s*["'`]/g;

const checked = (path: string): boolean =>
  /^(src|bridge|console)\//.test(path) && !/\.test\.tsx?$/.test(path) && !PLUGIN_CONTRACTS.includes(path);

export function unusedExports(sources: readonly Source[]): string[] {
  const exported = new Map(sources.filter(({ path }) => checked(path)).map((file) => [file.path, exportsOf(file)]));
  const used = new Set<string>();
  const use = ({ path, name }: Taken): void => {
    for (const one of exported.get(path) ?? []) {
      const key = `${path} ${one.name}`;
      if ((name !== "*" && name !== one.name) || used.has(key)) continue;
      used.add(key);
      if (one.from) use(one.from);
    }
  };
  for (const file of sources) for (const taken of importedNames(file)) use(taken);
  // what a public file hands on is used outside of the project
  for (const file of sources.filter(({ path }) => PLUGIN_CONTRACTS.includes(path)))
    for (const { from } of exportsOf(file)) if (from) use(from);
  return [...exported].flatMap(([path, names]) =>
    names
      .filter(({ name }) => !used.has(`${path} ${name}`))
      .map(({ name, line }) => `${path}:${line} exports ${name}: ${BECAUSE}`),
  );
}

/** Contracts that nobody shares. What one room alone uses, in contracts makes the room harder to change and the border harder to read. */
export function ownedContracts(sources: readonly Source[]): string[] {
  const users = new Map<string, Set<string>>();
  for (const file of sources)
    for (const { path, name } of importedNames(file)) {
      const key = `${path} ${name}`;
      users.set(key, (users.get(key) ?? new Set<string>()).add(userOf(file.path)));
    }
  return sources.filter(isOwnContract).flatMap((file) =>
    exportsOf(file).flatMap(({ name, line }) => {
      const rooms = [...(users.get(`${file.path} ${name}`) ?? [])].filter((user) => user !== "");
      const inside = [...file.code.matchAll(new RegExp(`\\b${name}\\b`, "g"))].length > 1;
      if (rooms.length !== 1 || rooms[0] === "contracts" || inside) return [];
      return [`${file.path}:${line} ${name} is used by ${rooms[0]} alone: it crosses no border, so it belongs there`];
    }),
  );
}

/** Wire types cross the network, and plugins are written elsewhere: their other user is not in this project. */
const isOwnContract = ({ path }: Source): boolean =>
  path.startsWith("src/contracts/") && checked(path) && path !== "src/contracts/wire.ts";

/** Fixtures play other rooms and contract suites state promises, so both are users; single tests are not. */
const userOf = (path: string): string =>
  /\.test\.tsx?$|^(test|verification|scripts)\//.test(path) ? "" : roomOf(path).replace(/^channels\/.*/, "channels");

function exportsOf(file: Source): Exported[] {
  const defined = [...file.code.matchAll(DEFINITION)].map((match) => ({
    name: match[1] ?? "",
    line: lineAt(file.code, match.index),
    from: null,
  }));
  const listed = [...file.code.matchAll(LIST)].flatMap((match) => {
    const path = match[2] ? target(file, match.index + match[0].length - 1) : null;
    const line = lineAt(file.code, match.index);
    return namesIn(match[1] ?? "").map(([name, as]) => ({
      name: as,
      line,
      from: path === null ? null : { path, name },
    }));
  });
  return [...defined, ...listed];
}

/** What a file takes from others, what it only hands on aside. */
function importedNames(file: Source): Taken[] {
  const fixed = [...file.code.matchAll(STATIC)].flatMap((match) => {
    const path = target(file, match.index + match[0].length - 1);
    const list = match[2] ?? "";
    if (!list.startsWith("{")) return [{ path, name: list.startsWith("*") ? "*" : "default" }];
    return namesIn(list.slice(1, -1)).map(([name]) => ({ path, name }));
  });
  const dynamic = [...file.code.matchAll(DYNAMIC)].flatMap((match) => {
    const path = target(file, match.index + match[0].length - 1);
    return namesOfDynamic(file.code, match.index).map((name) => ({ path, name }));
  });
  return [...fixed, ...dynamic];
}

/** `const { a } = await import(…)`, `(await import(…)).a` and `import(…).A` say which names they want; other forms want all. */
function namesOfDynamic(code: string, at: number): readonly string[] {
  const end = matching(code, code.indexOf("(", at)) + 1;
  const [, unpacked] = /\{([^{}]*)\}\s*=\s*await\s+$/.exec(code.slice(Math.max(0, at - 400), at)) ?? [];
  if (unpacked !== undefined) return unpacked.split(",").flatMap((part) => part.split(":")[0]?.trim() || []);
  const [, picked] = /^\)?\s*\.\s*(\w+)/.exec(code.slice(end, end + 80)) ?? [];
  return [picked === undefined || picked === "then" ? "*" : picked];
}

function namesIn(list: string): (readonly [name: string, as: string])[] {
  return list.split(",").flatMap((part) => {
    const [name, as] = part
      .trim()
      .replace(/^type\s+/, "")
      .split(/\s+as\s+/);
    return name ? [[name, as ?? name] as const] : [];
  });
}

function target(file: Source, quote: number): string {
  const specifier = file.text.slice(quote + 1, file.text.indexOf(file.text[quote] ?? '"', quote + 1));
  return specifier.startsWith(".") ? posix.join(posix.dirname(file.path), specifier) : specifier;
}
