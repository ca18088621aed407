/** Words about what is nearly what was looked for, for whoever repairs a seeded bug after the product has changed. */
import { lineAt } from "../../test/house-source.ts";
import type { Token } from "./code-tokens.ts";
import type { NamedCode } from "./named-code.ts";

const MAX_NAMES = 5;

/** The part of the tokens that has most in common with what is wanted: its line, and the first token that differs. */
export function nearestCode(text: string, tokens: readonly Token[], wanted: readonly Token[]): string {
  const pairs = new Set(pairsOf(wanted));
  let best = { score: 0, at: 0 };
  for (let at = 0; at < tokens.length; at++) {
    const window = tokens.slice(at, at + wanted.length);
    const sameStart = window[0]?.value === wanted[0]?.value ? 1 : 0;
    const score = pairsOf(window).filter((pair) => pairs.has(pair)).length * 2 + sameStart;
    if (score > best.score) best = { score, at };
  }
  const first = tokens[best.at];
  if (best.score < 2 || !first) return "Nothing there is like it.";
  const differs = wanted.findIndex(({ value }, index) => tokens[best.at + index]?.value !== value);
  const line = lineAt(text, first.start);
  const near = text.split("\n")[line - 1]?.trim() ?? "";
  const there = tokens[best.at + differs]?.value ?? "its end";
  return `Near it, line ${line}: \`${near}\` (\`${there}\` where \`${wanted[differs]?.value ?? "its end"}\` is looked for).`;
}

function pairsOf(tokens: readonly Token[]): string[] {
  return tokens.slice(1).map(({ value }, index) => `${tokens[index]?.value} ${value}`);
}

/** The names that share most letters with the one that is not there. */
export function nearestNames(all: readonly NamedCode[], path: string): string {
  const name = path.split(".").at(-1) ?? "";
  const names = [...new Set(all.map((one) => one.name))];
  const near = names.toSorted((a, b) => likeness(b, name) - likeness(a, name)).slice(0, MAX_NAMES);
  return near.length === 0 ? "It has no function at all." : `It has ${near.join(", ")}.`;
}

/** How much two names have in common: pairs of letters, as a share. */
function likeness(one: string, other: string): number {
  const letters = (name: string): string[] =>
    Array.from({ length: name.length - 1 }, (_, at) => name.slice(at, at + 2).toLowerCase());
  const [mine, theirs] = [letters(one), letters(other)];
  return (2 * mine.filter((pair) => theirs.includes(pair)).length) / (mine.length + theirs.length || 1);
}
