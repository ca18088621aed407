/** Marks text that comes from outside (webhooks, search results, files, guests in groups), so that a model can tell it from what it is asked. */
import type { Ids } from "../ids.ts";
import { block, oneLine } from "./markers.ts";

interface UntrustedText {
  /** Where it comes from, for the model: "web search", "group member Ann (guest)". */
  readonly source: string;
  /** Who wrote it, where that is known of each text. */
  readonly author?: { readonly id: string | null; readonly name: string };
  readonly text: string;
}

/** Whatever the text is: the mark that ends the block is in the result once, at its end. */
export function wrapUntrusted(ids: Ids, { source, author, text }: UntrustedText): string {
  const by = author ? ` author="${oneLine(author.id ?? "unknown")}" name="${oneLine(author.name)}"` : "";
  return block(ids, "untrusted-text", { label: ` source="${oneLine(source)}"${by}`, body: text });
}
