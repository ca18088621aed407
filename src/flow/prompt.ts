/** What the agent is told: the words of the messages and their pictures, and in short what came when there was no room. Pure but for the pictures. */
import type { PromptInput } from "../contracts/agent.ts";
import type { Commands } from "../contracts/command.ts";
import type { Batch, BatchEntry } from "../contracts/queue.ts";
import type { MediaStore } from "../contracts/store.ts";

export async function promptFor(
  deps: { readonly media: MediaStore; readonly commands?: Commands },
  { entries, hidden }: Pick<Batch, "entries" | "hidden">,
): Promise<PromptInput> {
  const whole = entries.filter((entry) => !entry.overflow);
  const said = whole.map(({ message }) => deps.commands?.plain(message) ?? message.text);
  const text = [...withoutRepeats(said), ...overflowBlock(entries, hidden)].join("\n\n");
  const attachments = whole.flatMap((entry) => entry.message.attachments);
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

/** Messages that came when too many waited: who said what, oldest first, each on a line of its own. */
function overflowBlock(entries: readonly BatchEntry[], hidden: number): readonly string[] {
  const shown = entries.filter((entry) => entry.overflow);
  if (shown.length === 0) return [];
  const many = shown.length + hidden;
  const head = `(${many} more ${many === 1 ? "message" : "messages"} came while too many were waiting, shown shortened, oldest first:`;
  const earlier = hidden > 0 ? [`- ${hidden} earlier ${hidden === 1 ? "one is" : "ones are"} not shown`] : [];
  return [[head, ...earlier, ...shown.map(overflowLine)].join("\n").concat(")")];
}

function overflowLine({ message, overflow }: BatchEntry): string {
  const words = message.text.replaceAll(/\s+/g, " ").trim();
  const notes = [
    ...(overflow && overflow.cutChars > 0 && !overflow.isCommand ? [`${overflow.cutChars} more characters`] : []),
    ...(overflow && overflow.attachments > 0 ? [`${overflow.attachments} attached, not shown`] : []),
    ...(overflow?.isCommand ? ["a command, not carried out"] : []),
  ];
  const rest = notes.length > 0 ? `[${notes.join("; ")}]` : "";
  const name = message.sender.name.replaceAll(/\s+/g, " ").trim() || "Somebody";
  return `- ${name}: ${[words, rest].filter((part) => part !== "").join(" ")}`;
}
