/** Finding by name: which entries match what was typed, best first within their group. Pure. */
export interface Entry {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  /** A second line, which is searched as well. */
  readonly detail?: string;
}

const MAX_OF_A_GROUP = 6;

/** In the order of groups in which the entries came; nothing typed matches everything. */
export function findEntries<T extends Entry>(entries: readonly T[], typed: string): readonly T[] {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const groups = Map.groupBy(entries, ({ group }) => group);
  return [...groups.values()].flatMap((group) => bestOf(group, words));
}

function bestOf<T extends Entry>(group: readonly T[], words: readonly string[]): readonly T[] {
  return group
    .map((entry) => ({ entry, rank: rankOf(entry, words) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((one, other) => other.rank - one.rank) // stable: what is equally good stays in its order
    .slice(0, MAX_OF_A_GROUP)
    .map(({ entry }) => entry);
}

/** 0: a word is nowhere. The name counts more than the detail, and the beginning of a word more than its middle. */
function rankOf({ name, detail = "" }: Entry, words: readonly string[]): number {
  const ranks = words.map((word) => Math.max(3 * placeOf(name, word), placeOf(detail, word)));
  return words.length === 0 ? 1 : ranks.includes(0) ? 0 : ranks.reduce((sum, rank) => sum + rank, 0);
}

function placeOf(text: string, word: string): 0 | 1 | 2 | 3 {
  const lower = text.toLowerCase();
  if (lower.startsWith(word)) return 3;
  if (lower.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(word))) return 2;
  return lower.includes(word) ? 1 : 0;
}
