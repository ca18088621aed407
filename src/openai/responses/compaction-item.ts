/** A conversation in short, as an item that a program hands back unread. It holds nothing that the program did not send or read before. Pure. */
import { parseJson, isObject } from "../../kit/json.ts";
import { wrongField } from "../fields.ts";

const LIMITS = { maxChars: 10_485_760, maxDepth: 4 };
const VERSION = 1;
const HEADING = "What was said before this, in short:";

export function compactionContent(summary: string): string {
  return Buffer.from(JSON.stringify({ v: VERSION, summary })).toString("base64url");
}

/** The words that stand for the conversation. */
export function readCompaction(content: string, at: string): string {
  const parsed = parseJson(Buffer.from(content, "base64url").toString("utf8"), LIMITS);
  const fields = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  if (fields["v"] === VERSION && typeof fields["summary"] === "string") return `${HEADING}\n\n${fields["summary"]}`;
  throw wrongField(`${at}.encrypted_content`, "was not made by this gateway.");
}
