/** What a schema says about a text: length, format and pattern. One place for both the check and the words about a failed one. */
import type { Budget } from "../budget.ts";
import { FORMATS } from "../formats.ts";
import type { SchemaNode } from "../../../kit/schema/keywords.ts";
import type { SafePattern } from "./pattern.ts";

export function textRules(
  node: SchemaNode,
  patterns: ReadonlyMap<string, SafePattern>,
  budget: Budget,
): ((text: string) => boolean)[] {
  const { minLength, maxLength, format, pattern } = node;
  const rules: ((text: string) => boolean)[] = [];
  if (typeof minLength === "number") rules.push((text) => pointsWithin(text, minLength, Infinity, budget));
  if (typeof maxLength === "number") rules.push((text) => pointsWithin(text, 0, maxLength, budget));
  const known = typeof format === "string" ? FORMATS.get(format) : undefined;
  if (known)
    rules.push((text) => {
      budget.spend(text.length);
      return known(text);
    });
  const safe = typeof pattern === "string" ? patterns.get(pattern) : undefined;
  if (safe) rules.push((text) => matches(safe, text, budget));
  return rules;
}

export function matches(pattern: SafePattern, text: string, budget: Budget): boolean {
  budget.spend(text.length * pattern.stepsPerChar);
  return pattern.test(text);
}

/** Characters as people count them (code points) are at most the units of the string and at least half of them; mostly that decides. */
function pointsWithin(text: string, least: number, most: number, budget: Budget): boolean {
  if (text.length < least || text.length > 2 * most) return false;
  if (text.length >= 2 * least && text.length <= most) return true;
  budget.spend(text.length);
  let points = 0;
  for (const _ of text) points++;
  return points >= least && points <= most;
}
