/** Where an agent keeps a conversation: a name of ours below the sessions folder, never made from anything a person said. */
import type { Ids } from "../../kit/ids.ts";

export function newSessionFile(ids: Ids): string {
  return `${ids.next("session").replaceAll("_", "-").toLowerCase()}.jsonl`;
}
