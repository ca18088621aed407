/** What the agent is told: the words of the waiting messages and their pictures, and before them what it should know about this turn. */
import type { PromptInput } from "../contracts/agent.ts";
import type { Commands } from "../contracts/command.ts";
import type { Batch } from "../contracts/queue.ts";
import type { MediaStore } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import { createFactsTeller, type FactsTeller } from "./facts.ts";
import { oneLine, withoutMarks } from "./markers.ts";
import { wrapUntrusted } from "./untrusted.ts";

interface PromptDeps {
  readonly media: MediaStore;
  readonly commands?: Commands;
  /** Without them the model gets the words alone. */
  readonly briefing?: Briefing;
}

export interface Briefing {
  readonly ids: Ids;
  readonly facts: FactsTeller;
}

export function createBriefing(deps: { readonly clock: Clock; readonly ids: Ids }): Briefing {
  return { ids: deps.ids, facts: createFactsTeller(deps) };
}

export async function promptFor(deps: PromptDeps, batch: Batch): Promise<PromptInput> {
  const said = batch.entries.map(({ message }) => deps.commands?.plain(message) ?? message.text);
  const text = withoutRepeats(said).join("\n\n");
  const attachments = batch.entries.flatMap((entry) => entry.message.attachments);
  const images: { mimeType: string; base64: string }[] = [];
  const missing: string[] = [];
  for (const { mediaId, mimeType, name } of attachments) {
    const data = await deps.media.read(mediaId);
    if (data)
      images.push({ mimeType, base64: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64") });
    else missing.push(oneLine(name));
  }
  const note =
    missing.length > 0 ? `\n\n(${missing.length} attached file(s) could not be read: ${missing.join(", ")})` : "";
  const words = text.trim() === "" && note === "" ? "(picture)" : `${text}${note}`;
  if (!deps.briefing) return { text: words, images };
  const preface = deps.briefing.facts.tell(batch);
  return { text: inGoodHands(deps.briefing, batch, words), images, ...(preface === null ? {} : { preface }) };
}

/** A guest in a group speaks to people; to the agent it is something it overhears. */
function inGoodHands({ ids }: Briefing, { entries: [first], role }: Batch, words: string): string {
  if (first?.message.scope !== "group" || role !== "guest") return withoutMarks(words);
  return wrapUntrusted(ids, { source: `group member ${first.message.sender.name} (guest)`, text: words });
}

/** The same words sent again while the session was busy are one message to the model; each still counts as answered. */
function withoutRepeats(texts: readonly string[]): readonly string[] {
  return texts.filter((text, at) => at === 0 || text === "" || text !== texts[at - 1]);
}
