/** What the agent is told: the words of the waiting messages, and their pictures. */
import type { PromptInput } from "../contracts/agent.ts";
import type { Commands } from "../contracts/command.ts";
import type { Batch } from "../contracts/queue.ts";
import type { MediaStore } from "../contracts/store.ts";

export async function promptFor(
  deps: { readonly media: MediaStore; readonly commands?: Commands },
  batch: Batch,
): Promise<PromptInput> {
  const said = batch.entries.map(({ message }) => deps.commands?.plain(message) ?? message.text);
  const text = withoutRepeats(said).join("\n\n");
  const attachments = batch.entries.flatMap((entry) => entry.message.attachments);
  const images: { mimeType: string; base64: string }[] = [];
  const missing: string[] = [];
  for (const { mediaId, mimeType, name } of attachments) {
    const data = await deps.media.read(mediaId);
    if (data)
      images.push({ mimeType, base64: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64") });
    else missing.push(name);
  }
  const note =
    missing.length > 0 ? `\n\n(${missing.length} attached file(s) could not be read: ${missing.join(", ")})` : "";
  return { text: `${text}${note}`.trim() === "" ? "(picture)" : `${text}${note}`, images };
}

/** The same words sent again while the session was busy are one message to the model; each still counts as answered. */
function withoutRepeats(texts: readonly string[]): readonly string[] {
  return texts.filter((text, at) => at === 0 || text === "" || text !== texts[at - 1]);
}
