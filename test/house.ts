/** The rules of the house as functions from sources to findings. A finding is one sentence that starts with the place; none means all is well. */
import { posix } from "node:path";
import { functionsOf, type Import, importsOf, lineAt, matching, type Source } from "./house-source.ts";
import {
  BY_CONTRACT,
  DOORLESS,
  LAYERS,
  LIBRARIES,
  LIMITS,
  MAY_WAIT,
  type Place,
  PLACES,
  RUNS_VERIFICATION,
  TYPES_ONLY,
} from "./house-plan.ts";

const FORBIDDEN_NAMES = /^(utils?|helpers?|common|misc|managers?)$/;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|browser|d))?\.(ts|tsx|mts|mjs)$/;

export const isTest = (path: string): boolean =>
  /\.test\.tsx?$/.test(path) || /^(src\/testing|test|verification)\//.test(path);

/** Folders whose folders are rooms of their own. */
const HOUSES = ["channels", "mcp"];

/** The room a file belongs to. Each platform below channels/ and each side of mcp/ is a room of its own; the files beside gateway.ts share its room. */
export function roomOf(path: string): string {
  const [top = "", second = "", third] = path.split("/");
  if (top !== "src") return top;
  if (third === undefined) return second === "main.ts" ? "main" : "gateway";
  if (second === "wiring") return "gateway"; // the same room, a drawer of it
  return HOUSES.includes(second) && path.split("/").length > 3 ? `${second}/${third}` : second;
}

export function brokenWalls(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !isTest(path) && /^(src|bridge|console)\//.test(path))
    .flatMap((file) => importsOf(file).flatMap((found) => wallBetween(file.path, found) ?? []));
}

function wallBetween(from: string, found: Import): string | null {
  if (!found.specifier.startsWith(".")) return null;
  const to = posix.join(posix.dirname(from), found.specifier);
  if (to === "package.json") return null; // the version is written there and nowhere else
  const [mine, theirs] = [roomOf(from), roomOf(to)];
  const at = `${from}:${found.line} imports ${to}`;
  if (isTest(to)) return `${at}: only tests may use what is made for tests`;
  if (TYPES_ONLY.some((pair) => pair.from === mine && pair.to === theirs) && !found.typeOnly) {
    return `${at}: ${mine} may take types from ${theirs}, nothing else`;
  }
  if (mine === theirs) return null;
  const allowed = LAYERS[mine];
  if (!allowed) return `${at}: ${mine} is not in LAYERS of test/house-plan.ts; say there which rooms it may import`;
  const [house = ""] = theirs.split("/");
  const known = allowed.includes(theirs) || (theirs.includes("/") && allowed.includes(`${house}/*`));
  if (!known) return `${at}: ${mine} does not know ${theirs}`;
  if (DOORLESS.includes(theirs) || posix.basename(to) === "index.ts") return null;
  return `${at}: enter ${theirs} by its door`;
}

/** Product, fixtures and scripts do without verification/: it looks at them, and a few tests run it. */
export function verificationUses(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !path.startsWith("verification/") && !RUNS_VERIFICATION.includes(path))
    .flatMap((file) =>
      importsOf(file).flatMap(({ specifier, line }) => {
        const to = specifier.startsWith(".") ? posix.join(posix.dirname(file.path), specifier) : "";
        if (!to.startsWith("verification/")) return [];
        return [`${file.path}:${line} imports ${to}: only tests that run verification/ import it`];
      }),
    );
}

/** In contracts there is nothing but types, so a circle of types is a circle: no file of it can be read alone. Elsewhere types may point both ways. */
const countsForCycles = (path: string, { typeOnly }: Import): boolean =>
  !typeOnly || (path.startsWith("src/contracts/") && !isTest(path));

/** Circles of imports. */
export function importCycles(sources: readonly Source[]): string[] {
  const links = new Map<string, string[]>();
  for (const file of sources) {
    const targets = importsOf(file).filter(
      (found) => countsForCycles(file.path, found) && found.specifier.startsWith("."),
    );
    links.set(
      file.path,
      targets.map((found) => posix.join(posix.dirname(file.path), found.specifier)),
    );
  }
  const done = new Set<string>();
  const findings: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      findings.push(`${[...trail.slice(trail.indexOf(path)), path].join(" -> ")}: a circle of imports`);
      return;
    }
    if (done.has(path)) return;
    for (const next of links.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of links.keys()) visit(path, []);
  return findings;
}

/** Each library has its rooms; a library nobody planned for has none. */
export function libraryRooms(sources: readonly Source[]): string[] {
  return sources.flatMap((file) =>
    importsOf(file).flatMap(({ specifier, line }) => {
      if (/^[./]|^bun$|^bun:test$/.test(specifier)) return [];
      if (specifier.startsWith("node:") && !Object.hasOwn(LIBRARIES, specifier)) return []; // part of the system, free for all
      const name = /^@|^node:/.test(specifier)
        ? specifier.split("/").slice(0, 2).join("/")
        : (specifier.split("/")[0] ?? "");
      const rooms = LIBRARIES[name] ?? LIBRARIES[`${name.split("/")[0]}/*`];
      if (!rooms) return [`${file.path}:${line} imports ${name}: no room is planned for it`];
      if (isTest(file.path) || file.path.startsWith("scripts/") || rooms.some((room) => file.path.startsWith(room)))
        return [];
      return [`${file.path}:${line} imports ${name}: it belongs to ${rooms.join(", ") || "tests"} only`];
    }),
  );
}

/** Calls that belong to one place, such as time in kit and the environment in config. */
export function misplaced(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !isTest(path) && path.startsWith("src/"))
    .flatMap((file) => PLACES.flatMap((place) => strays(file, place)));
}

function strays(file: Source, place: Place): string[] {
  if (place.allowed.some((prefix) => file.path.startsWith(prefix))) return [];
  const found = [...file.code.matchAll(place.pattern)].filter((match) => !isDefinition(file.code, match));
  const once = place.onceIn === file.path ? 1 : 0;
  return found.slice(once).map((match) => {
    return `${file.path}:${lineAt(file.code, match.index)} ${match[0].trim()}: ${place.because}`;
  });
}

/** `fetch(request) {` in an object defines a method of that name; it calls nothing. */
function isDefinition(code: string, match: RegExpExecArray): boolean {
  if (!match[0].endsWith("(")) return false;
  const open = match.index + match[0].length - 1;
  return /^\s*[{:]/.test(code.slice(matching(code, open) + 1));
}

export function tooLong(sources: readonly Source[]): string[] {
  return sources.flatMap((file) => {
    const lines = file.text.split("\n").length - 1;
    const limit = isTest(file.path) ? LIMITS.testFileLines : LIMITS.fileLines;
    const whole = lines > limit ? [`${file.path} has ${lines} lines; the limit is ${limit}`] : [];
    if (isTest(file.path)) return whole;
    const long = functionsOf(file).flatMap(({ name, line, lines: length, flat }) => {
      const most = flat ? LIMITS.flatFunctionLines : LIMITS.functionLines;
      return length > most ? [`${file.path}:${line} ${name} has ${length} lines; the limit is ${most}`] : [];
    });
    return [...whole, ...long];
  });
}

export function tooManyParameters(sources: readonly Source[]): string[] {
  return sources.flatMap((file) =>
    functionsOf(file)
      .filter(({ name, parameters }) => parameters > LIMITS.parameters && !BY_CONTRACT.includes(name))
      .map(
        ({ name, line, parameters }) => `${file.path}:${line} ${name} takes ${parameters} parameters; use an object`,
      ),
  );
}

/** Loops that wait in tests: without a name and a deadline, a wait in vain says nothing until the time limit of its test. */
export function bareWaits(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => isTest(path) && !MAY_WAIT.includes(path))
    .flatMap(({ path, code }) =>
      [...code.matchAll(/\b(?:while \(|for \((?=;;))/g)]
        .filter(({ index, 0: head }) => isWait(code.slice(matching(code, index + head.length - 1) + 1)))
        .map(({ index }) => `${path}:${lineAt(code, index)} waits in a loop of its own: use waitFor or advanceUntil`),
    );
}

/** What follows the head of a loop does nothing but let time pass. */
function isWait(body: string): boolean {
  const pause = /await (?:new Promise\b|Bun\.sleep\(|[\w.()]*\b(?:sleep|advance|settled?)\()[^;]*;/.source;
  return new RegExp(`^\\s*(?:${pause}|\\{\\s*${pause}\\s*(?:\\}|if \\([^;]*\\b(?:return|break)\\b))`).test(body);
}

/** Whole gateways mark what a model reads with random codes, and a code of 22 letters holds any word of three once in a while. */
export function chanceWords(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => path.startsWith("test/"))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\b(?:shownWith|lastAsked)\([^\n]*\)\.not\.toContain\("([\w-]{1,5})"\)/g)].map(
        ({ index, 1: word }) =>
          `${path}:${lineAt(text, index)} looks for "${word}", which a random code may hold: look for two words`,
      ),
    );
}

export function badNames(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path }) => {
    const base = posix.basename(path);
    if (!KEBAB.test(base)) return [`${path}: file names are kebab-case`];
    const words = base.replace(/\..*$/, "").split("-");
    return words.some((word) => FORBIDDEN_NAMES.test(word)) ? [`${path}: the name does not say what is inside`] : [];
  });
}

/** A folder is a promise of a group. One or two files are none: they cost a step to find, and their folder repeats their name. */
export function smallFolders(sources: readonly Source[]): string[] {
  const inside = sources.map(({ path }) => path).filter((path) => /^(src|bridge|console)\//.test(path));
  const folders = [...new Set(inside.map((path) => posix.dirname(path)))];
  return folders.flatMap((folder) => {
    if (folders.some((other) => other.startsWith(`${folder}/`))) return [];
    const files = inside.filter((path) => posix.dirname(path) === folder && !/\.test\.tsx?$/.test(path));
    if (files.length >= LIMITS.folderFiles) return [];
    return [
      `${folder} has ${files.length} of at least ${LIMITS.folderFiles} files: move them up, a folder hides what it holds and must be worth it`,
    ];
  });
}

/** Forms we do without. */
export function badForms(sources: readonly Source[]): string[] {
  const forms: { pattern: RegExp; say: string; applies(path: string): boolean }[] = [
    { pattern: /\bexport\s+default\b/g, say: "exports are named", applies: (path) => path !== "bridge/index.ts" },
    {
      pattern: /(?<![\w.$"'])any\b(?!\s*[(:])/g,
      say: "use unknown and parse it",
      applies: (path) => path.endsWith(".ts"), // the words of a page look like code to the scanner
    },
    {
      pattern: /\bclass\s+(?!Lifetime\b)\w+(?!\w|\s+extends\s+\w*Error\b)/g,
      say: "classes are for errors; use a function that returns an object",
      applies: (path) => path.endsWith(".ts"),
    },
    { pattern: /\bexport\s*\*/g, say: "a door lists what it exports", applies: () => true },
  ];
  return sources.flatMap((file) =>
    forms.flatMap(({ pattern, say, applies }) =>
      applies(file.path)
        ? [...file.code.matchAll(pattern)].map(({ index }) => `${file.path}:${lineAt(file.code, index)} ${say}`)
        : [],
    ),
  );
}

/**
 * A promise that is kept after its import failed fails for ever, long after its cause (no file descriptors, say) is gone. A dynamic import
 * is awaited where it stands, or handed to `lazy`, which forgets failures.
 */
export function keptImports(sources: readonly Source[]): string[] {
  const say = "an import that is kept goes through lazy() of src/kit/deferred.ts";
  return sources.flatMap((file) => {
    if (isTest(file.path) || file.path === "src/kit/deferred.ts") return [];
    const loads = /(?<!\btypeof\s|\btype\s+\w+\s*=\s*|:\s*)\bimport\s*\(/.test(file.code);
    const patterns = [
      /(?<!\btype\s+\w+\s*)(?<![=!<>])=\s*import\s*\(/g, // kept as it is, `??=` included
      /\bimport\s*\([^()]*\)\s*\.\s*(?:then|catch|finally)\b/g,
      ...(loads ? [/\?\?=\s*(?!await\b)[\w.]+\(/g] : []), // kept by way of a function of the same file
    ];
    const lines = patterns.flatMap((pattern) => [...file.code.matchAll(pattern)].map(({ index }) => index));
    return [...new Set(lines.map((at) => lineAt(file.code, at)))].map((line) => `${file.path}:${line} ${say}`);
  });
}

/** The first thing a reader meets is what the file is for. */
export function silentOpenings(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !isTest(path) && !path.endsWith(".d.mts"))
    .filter(({ text }) => !/^(#!.*\n)?\/[/*]/.test(text))
    .map(({ path }) => `${path} does not open with a sentence about its purpose`);
}
