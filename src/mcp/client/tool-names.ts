/** What the tools of an MCP server are called here: `mcp_SERVER_TOOL`, in the letters and the length that model providers take. Pure. */

const MAX_NAME_CHARS = 64;
const HASH_CHARS = 8;

/** By the server's own names. The same tools get the same names, in whatever order the server lists them. */
export function toolNames(server: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const own = [...new Set(tools)];
  const plain = new Map(own.map((tool) => [tool, plainName(server, tool)]));
  const named = Map.groupBy(own, (tool) => (plain.get(tool) ?? "").toLowerCase());
  return new Map(
    own.map((tool) => [tool, isClear(server, tool, named) ? (plain.get(tool) ?? "") : hashedName(server, tool)]),
  );
}

/** It fits as it is, and is the only one that does among those that would be called alike. */
function isClear(server: string, tool: string, named: ReadonlyMap<string, readonly string[]>): boolean {
  const name = plainName(server, tool);
  if (name.length > MAX_NAME_CHARS) return false;
  const alike = named.get(name.toLowerCase()) ?? [];
  const unchanged = alike.filter((one) => plainName(server, one).endsWith(`_${one}`));
  return alike.length === 1 || (unchanged.length === 1 && unchanged[0] === tool);
}

function plainName(server: string, tool: string): string {
  return `mcp_${server}_${tool.replace(/[^A-Za-z0-9_-]/g, "_")}`;
}

/** Cut to length, and told apart by the beginning of a hash of the server's own name. */
function hashedName(server: string, tool: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(tool).digest("hex").slice(0, HASH_CHARS);
  return `${plainName(server, tool).slice(0, MAX_NAME_CHARS - HASH_CHARS - 1)}_${hash}`;
}
