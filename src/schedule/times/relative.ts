/** "in 20m", "in 2 hours", a distance from now in one unit. Anything with more than one meaning is not read. */
import { parseDuration } from "../../kit/duration.ts";

const WORDS: Readonly<Record<string, string>> = {
  second: "s",
  sec: "s",
  minute: "m",
  min: "m",
  hour: "h",
  hr: "h",
  day: "d",
};
const RELATIVE = /^in\s+(\d{1,6}|an?|one)\s*([a-z]+)$/i;

/** How far away, or null when the text does not say that. */
export function readRelative(text: string): number | null {
  const match = RELATIVE.exec(text.trim());
  if (!match) return null;
  const count = /^\d+$/.test(match[1] ?? "") ? match[1] : "1";
  const word = (match[2] ?? "").toLowerCase();
  const unit = WORDS[word] ?? WORDS[word.replace(/s$/, "")] ?? word;
  return parseDuration(`${count}${unit}`);
}
