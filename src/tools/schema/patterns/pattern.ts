/**
 * Regular expressions of foreign schemas, run by RE2, which needs time in proportion to the text and never hangs. What RE2 cannot run is
 * refused here. Patterns mean what ECMAScript says with its `u` flag, as JSON Schema asks; where RE2 differs they are translated.
 */
import type { RE2JS } from "re2js";

export interface SafePattern {
  test(text: string): boolean;
  /** How many parts it has when its repetitions are written out. */
  readonly size: number;
  /** What one character of a text may cost at worst. */
  readonly stepsPerChar: number;
}

export type CompiledPattern =
  | { readonly kind: "ok"; readonly pattern: SafePattern }
  /** `isBroken`: it is no regular expression of JavaScript at all. */
  | { readonly kind: "refused"; readonly because: string; readonly isBroken: boolean };

export const PATTERN_LIMITS = {
  maxChars: 2_000,
  maxSize: 2_000,
  /** Each class such as \p{L} is a table of hundreds of ranges. */
  maxSizeWithClasses: 600,
  maxClasses: 20,
} as const;

const PARTS_PER_STEP = 4;
const MAX_KEPT = 500;

/** Servers use the same few patterns in many tools, and making one costs more than reading the rest of a schema. */
export function createPatternCompiler(): (source: string) => CompiledPattern {
  const kept = new Map<string, CompiledPattern>();
  return (source) => {
    const known = kept.get(source);
    if (known) return known;
    const made = compilePattern(source);
    if (kept.size < MAX_KEPT) kept.set(source, made);
    return made;
  };
}

export function compilePattern(source: string): CompiledPattern {
  if (source.length > PATTERN_LIMITS.maxChars) return refused(`is longer than ${PATTERN_LIMITS.maxChars} characters`);
  if (!isEcmaScript(source)) return refused("is not a valid regular expression", true);
  const classes = source.match(/\\[pP]\{/g)?.length ?? 0;
  const size = sizeOf(source);
  if (classes > PATTERN_LIMITS.maxClasses)
    return refused(`has more than ${PATTERN_LIMITS.maxClasses} character classes`);
  if (size > (classes === 0 ? PATTERN_LIMITS.maxSize : PATTERN_LIMITS.maxSizeWithClasses))
    return refused("is too large when its repetitions are written out");
  try {
    // loaded at the first pattern, because most gateways never see one and it would lengthen every start
    const { RE2JS: engine } = require("re2js") as { RE2JS: typeof RE2JS };
    const compiled = engine.compile(toRe2(source));
    const stepsPerChar = 1 + Math.floor(size / PARTS_PER_STEP);
    return { kind: "ok", pattern: { test: (text) => compiled.test(text), size, stepsPerChar } };
  } catch (error) {
    return refused(`cannot be run in a time that is certain (${reasonOf(error)})`);
  }
}

const refused = (because: string, isBroken = false): CompiledPattern => ({ kind: "refused", because, isBroken });

/** RE2 names what it does not take at the end of its sentence. */
function reasonOf(error: unknown): string {
  const say = (error instanceof Error ? error.message : String(error)).replace("error parsing regexp: ", "");
  if (/`\(\?<?[=!]/.test(say)) return "it looks ahead or behind";
  return /`\\(?:\d|k)/.test(say) ? "it refers back to what it matched" : say;
}

/** Only parsed, never run. Agents parse it too, so a pattern that fails here would fail in each of their calls. */
function isEcmaScript(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false; // the engine's words differ by version; ours say enough
  }
}

/** One unit of a valid pattern: an escape with its argument, the brackets of an empty class, a repetition, or one character. */
const UNIT =
  /\\u\{[0-9a-fA-F]+\}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c[a-zA-Z]|\\[pP]\{[^}]*\}|\\k<[^>]*>|\\.|\[\^?\]|\{\d+(?:,\d*)?\}|./gsu;

/** The parts RE2 will make: a class is one, and a repeated group is written out as often as it may come. */
function sizeOf(source: string): number {
  const outer: number[] = [];
  let [total, last, inClass] = [0, 0, false];
  for (const [unit] of source.matchAll(UNIT)) {
    if (inClass) {
      inClass = !(unit.endsWith("]") && !unit.startsWith("\\"));
      continue;
    }
    const times = /^\{(\d+)(?:,(\d*))?\}$/.exec(unit);
    if (times) {
      const most = times[2] ? Number(times[2]) : Number(times[1]) + (times[2] === "" ? 1 : 0);
      [total, last] = [total + last * (most - 1), last * most];
    } else if (unit === "(") {
      outer.push(total);
      total = 0;
    } else if (unit === ")") {
      [total, last] = [total + (outer.pop() ?? 0), total];
    } else {
      [total, last] = [total + 1, 1];
      inClass = unit === "[";
    }
  }
  return Math.max(total, 1);
}

const SPACES = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const NOT_SPACES =
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}" +
  "\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
const ANYTHING = "\\x{0}-\\x{10ffff}";

function toRe2(source: string): string {
  let inClass = false;
  return source.replace(UNIT, (unit) => {
    if (unit.startsWith("\\")) return escapeToRe2(unit, inClass);
    if (inClass) {
      if (unit.endsWith("]")) inClass = false;
      return unit.startsWith("[") ? `\\${unit}` : unit; // RE2 reads [: as the beginning of a name
    }
    if (unit === "[]") return `[^${ANYTHING}]`;
    if (unit === "[^]") return `[${ANYTHING}]`;
    if (unit === ".") return "[^\\n\\r\\x{2028}\\x{2029}]";
    if (unit === "[") inClass = true;
    return unit;
  });
}

function escapeToRe2(unit: string, inClass: boolean): string {
  if (unit === "\\s") return inClass ? SPACES : `[${SPACES}]`;
  if (unit === "\\S") return inClass ? NOT_SPACES : `[${NOT_SPACES}]`;
  if (unit === "\\b" && inClass) return "\\x08";
  if (unit === "\\0") return "\\x{0}";
  if (unit.startsWith("\\c")) return `\\x{${(unit.charCodeAt(2) % 32).toString(16)}}`;
  if (/^\\[pP]/.test(unit)) return unit.replace(/(?:Script|sc|General_Category|gc)=/, "");
  if (!unit.startsWith("\\u")) return unit;
  const units = [...unit.matchAll(/[0-9a-fA-F]+/g)].map(([hex]) => Number.parseInt(hex, 16));
  const point = units.length === 2 ? String.fromCharCode(...units).codePointAt(0) : units[0];
  return `\\x{${(point ?? 0).toString(16)}}`;
}
