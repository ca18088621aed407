/** The column of quoted texts. A damaged column still counts as quoted: the text of others is never taken for the sender's own. */
import type { QuotedText } from "../../contracts/chat.ts";
import { isQuotedList } from "../../kit/marks/quoted.ts";
import { decodeJson } from "./codec.ts";

const DAMAGED: readonly QuotedText[] = [{ how: "forward", author: { id: null, name: "" }, text: "" }];

export function encodeQuoted(quoted: readonly QuotedText[]): string | null {
  return quoted.length === 0 ? null : JSON.stringify(quoted.map(bare));
}

export function decodeQuoted(column: string | null): readonly QuotedText[] {
  if (column === null) return [];
  const value = decodeJson(column);
  return isQuotedList(value) ? value.map(bare) : DAMAGED;
}

function bare({ how, author: { id, name }, text, message, ownId }: QuotedText): QuotedText {
  const bareText = { how, author: { id, name }, text, ...(typeof message === "string" ? { message } : {}) };
  return typeof ownId === "string" ? { ...bareText, ownId } : bareText;
}
