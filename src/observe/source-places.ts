/**
 * Puts the places in our sources into a stack. The gateway runs from a few large files, and Bun would do this for every error by itself: it keeps
 * all it read, which is a tenth of the gateway's memory, and begins at the start. Here the maps are read when a stack is written, and dropped.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const MAX_KNOWN = 500;

interface SourceMap {
  /** Of lines and columns that begin with 0. */
  findEntry(line: number, column: number): { originalSource?: string; originalLine: number; originalColumn: number };
}

/** `folder`: of the built files; their maps lie in `maps` below it. Elsewhere, and without a map, a place stays as it is. */
export function createSourcePlaces(folder: string): (stack: string) => string {
  const inFolder = new RegExp(`${RegExp.escape(folder)}/[\\w-]+\\.js:\\d+:\\d+`, "g");
  // an error that comes over and over names the same places
  const known = new Map<string, string>();
  return (stack) => {
    const maps = new Map<string, SourceMap | null>();
    return stack.replaceAll(inFolder, (place) => {
      const found = known.get(place) ?? sourceOf(place.slice(folder.length + 1), folder, maps) ?? place;
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(place, found);
      return found;
    });
  };
}

/** `built`: "main.js:2:900". `maps`: those that were read before. */
function sourceOf(built: string, folder: string, maps: Map<string, SourceMap | null>): string | null {
  const [file = "", line, column] = built.split(":");
  const map = maps.get(file) ?? readMap(join(folder, "maps", `${file}.map`));
  maps.set(file, map);
  const entry = map?.findEntry(Number(line) - 1, Number(column) - 1);
  if (entry?.originalSource === undefined) return null;
  return `${join(folder, entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

/** Null: there is none that could be read, and the log line matters more. */
function readMap(file: string): SourceMap | null {
  try {
    const { SourceMap } = process.getBuiltinModule("node:module"); // here, because most starts never write a stack
    return new SourceMap(JSON.parse(readFileSync(file, "utf8"))) as SourceMap;
  } catch {
    return null;
  }
}
