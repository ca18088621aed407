/**
 * Ids of calls, as far as providers do not give each its own: some send none, some begin at the same one with every answer. The gateway takes
 * an id that it knows for a repeated call and tells the result again, so each call of a session gets an id of its own before pi makes it.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

export function separateCallIds(pi: ExtensionAPI): void {
  pi.on("message_end", ({ message }, ctx) => {
    if (message.role !== "assistant" || !message.content.some(({ type }) => type === "toolCall")) return undefined;
    const taken = idsIn(ctx.sessionManager.getEntries());
    let changed = false;
    const content = message.content.map((block) => {
      if (block.type !== "toolCall") return block;
      const id = freeId(block.id, taken);
      taken.add(id);
      if (id === block.id) return block;
      changed = true;
      return { ...block, id };
    });
    return changed ? { message: { ...message, content } } : undefined;
  });
}

function idsIn(entries: ReturnType<ExtensionContext["sessionManager"]["getEntries"]>): Set<string> {
  const ids = new Set<string>();
  for (const entry of entries) {
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    for (const block of entry.message.content) if (block.type === "toolCall") ids.add(block.id);
  }
  return ids;
}

/** Of an id in two parts (`call|item`, OpenAI Responses) a new one has the first alone: the second names an item that exists once. */
function freeId(id: string, taken: ReadonlySet<string>): string {
  if (id !== "" && !taken.has(id)) return id;
  const base = id.split("|", 1)[0] || "call";
  for (let count = 2; ; count++) if (!taken.has(`${base}_${count}`)) return `${base}_${count}`;
}
