/**
 * Names for tools that others named: `server_tool`, in the letters that agents and every model provider take, the same at each start.
 * Different tools get different names; where two would meet, or one is too long, a few letters of a hash tell them apart.
 */
interface ForeignTool {
  readonly server: string;
  readonly name: string;
}

const MAX_NAME_CHARS = 64;
const HASH_CHARS = 6;

/** In the order given. The first of two that would meet, also in case alone, keeps the plain name. */
export function nameTools(tools: readonly ForeignTool[]): string[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    const plain = plainName(tool);
    const name = plain.length > MAX_NAME_CHARS || taken.has(plain.toLowerCase()) ? distinct(tool, taken) : plain;
    taken.add(name.toLowerCase());
    return name;
  });
}

/** The letters of both as they are; Google wants a letter or _ first. */
function plainName({ server, name }: ForeignTool): string {
  return (
    [server, name]
      .map(allowed)
      .filter(Boolean)
      .join("_")
      .replace(/^[^A-Za-z_]+/, "") || "tool"
  );
}

const allowed = (text: string): string => text.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^[_-]+|[_-]+$/g, "");

function distinct(tool: ForeignTool, taken: ReadonlySet<string>): string {
  for (let attempt = 0; ; attempt++) {
    const seed = JSON.stringify([tool.server, tool.name, attempt]);
    const hash = new Bun.CryptoHasher("sha256").update(seed).digest("hex").slice(0, HASH_CHARS);
    const name = `${plainName(tool).slice(0, MAX_NAME_CHARS - HASH_CHARS - 1)}_${hash}`;
    if (!taken.has(name.toLowerCase())) return name; // ends: there are more hashes than tools
  }
}
