/** When two JSON values are the same: names in any order, 1 and 1.0 alike, lists item by item. Work is counted by the text compared. */
import type { Budget } from "./budget.ts";

type IsAllowed = (value: unknown, budget: Budget) => boolean;

const isSimple = (value: unknown): boolean => typeof value !== "object" || value === null;

/** Looks a value up among those a schema lists. */
export function oneOf(allowed: readonly unknown[]): IsAllowed {
  const simple = new Set(allowed.filter(isSimple));
  const texts = new Set(allowed.filter((value) => !isSimple(value)).map(textOf));
  return (value, budget) => {
    if (isSimple(value)) return simple.has(value);
    return texts.size > 0 && texts.has(countedText(value, budget));
  };
}

export function areUnique(values: readonly unknown[], budget: Budget): boolean {
  return new Set(values.map((value) => countedText(value, budget))).size === values.length;
}

function countedText(value: unknown, budget: Budget): string {
  const text = textOf(value);
  budget.spend(text.length);
  return text;
}

/** Equal values have equal texts. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  const parts = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}:${textOf(part)}`);
  return `{${parts.sort().join(",")}}`;
}
