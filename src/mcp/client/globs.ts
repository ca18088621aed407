/** Which tools of a server are taken: `allow` and `deny`, by the server's own names. Pure. */

interface ToolGlobs {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export function isTaken(tool: string, { allow, deny }: ToolGlobs): boolean {
  return allow.some((glob) => matches(glob, tool)) && !deny.some((glob) => matches(glob, tool));
}

/** `*` stands for any text, also none. Without backtracking: each piece is looked for once, from where the last one ended. */
function matches(glob: string, name: string): boolean {
  const pieces = glob.split("*");
  const first = pieces[0] ?? "";
  const last = pieces.at(-1) ?? "";
  if (pieces.length === 1) return glob === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= name.length - last.length;
}
