/** The name that was probably meant: fewest changed, missing, extra or swapped letters. Says nothing when nothing is close. */
const MAX_COMPARED_CHARS = 64;

export function nearest(written: string, names: readonly string[]): string | null {
  if (written.length > MAX_COMPARED_CHARS) return null;
  let best: string | null = null;
  let bestDistance = allowedDistance(written.length) + 1;
  for (const name of names) {
    if (Math.abs(name.length - written.length) >= bestDistance) continue; // cannot be nearer
    const distance = editDistance(written.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

function allowedDistance(length: number): number {
  if (length <= 3) return 1;
  return length <= 8 ? 2 : 3;
}

/** Swapped neighbours count as one change, because that is the commonest slip. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1);
      current.push(least);
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length] ?? 0;
}

const MAX_NAMED = 50;

/** A sentence about a name that is not among these: which one was probably meant, and which there are. */
export function noSuchName(noun: string, written: string, names: readonly string[]): string {
  const near = nearest(written, names);
  const meant = near === null ? "" : ` Did you mean ${near}?`;
  const listed = names.slice(0, MAX_NAMED).join(", ") || "none";
  return `There is no ${noun} called ${written.slice(0, MAX_COMPARED_CHARS)}.${meant} The ${noun}s are: ${listed}.`;
}
