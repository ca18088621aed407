/** Which of two versions is newer, by the rules of semantic versioning. Pure. */

const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

/** False also when one of them is no version. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [VERSION.exec(version), VERSION.exec(than)];
  if (!a || !b) return false;
  for (const part of [1, 2, 3]) {
    const difference = Number(a[part]) - Number(b[part]);
    if (difference !== 0) return difference > 0;
  }
  return isLaterRelease(a[4], b[4]);
}

/** A version without a label comes after all of its pre-releases. */
function isLaterRelease(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return a === undefined && b !== undefined;
  const [left, right] = [a.split("."), b.split(".")];
  for (const [index, word] of left.entries()) {
    const other = right[index];
    if (other === undefined) return true;
    if (word !== other) return comesAfter(word, other);
  }
  return false;
}

function comesAfter(word: string, other: string): boolean {
  const isNumber = /^\d+$/.test(word);
  if (isNumber && /^\d+$/.test(other)) return Number(word) > Number(other);
  return isNumber === /^\d+$/.test(other) ? word > other : !isNumber; // numbers come before words
}
