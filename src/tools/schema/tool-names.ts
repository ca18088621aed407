/**
 * Names for tools that others named: `server_tool`, in the letters that agents and every model provider take, the same at each start.
 * Different tools get different names; where two would meet, or one is too long, a few letters of a hash tell them apart.
 */
export interface ForeignTool {
  readonly server: string;
  readonly name: string;
}

const MAX_NAME_CHARS = 64;
const HASH_CHARS = 6;

/** In the order given. The first of two that would meet keeps the plain name. */
export function nameTools(tools: readonly ForeignTool[]): string[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    const plain = plainName(tool);
    const name = plain.length > MAX_NAME_CHARS || taken.has(plain) ? distinct(tool, taken) : plain;
    taken.add(name);
    return name;
  });
}

function plainName({ server, name }: ForeignTool): string {
  return `${snake(server)}_${snake(name)}`.replace(/^[^a-z]+/, "") || "tool";
}

const snake = (text: string): string =>
  text
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_|_$/g, "");

function distinct(tool: ForeignTool, taken: ReadonlySet<string>): string {
  for (let attempt = 0; ; attempt++) {
    const seed = JSON.stringify([tool.server, tool.name, attempt]);
    const hash = new Bun.CryptoHasher("sha256").update(seed).digest("hex").slice(0, HASH_CHARS);
    const name = `${plainName(tool).slice(0, MAX_NAME_CHARS - HASH_CHARS - 1)}_${hash}`;
    if (!taken.has(name)) return name; // ends: there are more hashes than tools
  }
}
