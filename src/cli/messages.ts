/** `pi-gw messages` and `pi-gw outbox`: withdrawing or changing a message that waits, and replies that did not simply arrive. */
import { printAnswer, printList, queryOf } from "./ask-gateway.ts";
import { numberOf, recordOf, shortText, textOf } from "./read-value.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

const MAX_TEXT_CHARS = 60;

export function cancelMessage(world: CliWorld, id: string, flags: CommonFlags): Promise<number> {
  const request = { method: "POST", path: `${pathOf(id)}/cancel` } as const;
  return printAnswer(world, flags, request, () => "The message is withdrawn.");
}

export function editMessage(
  world: CliWorld,
  id: string,
  words: readonly string[],
  flags: CommonFlags,
): Promise<number> {
  const request = { method: "PATCH", path: pathOf(id), body: { text: words.join(" ") } } as const;
  return printAnswer(world, flags, request, () => "The message has its new text.");
}

export interface OutboxFlags extends CommonFlags {
  readonly state?: string;
  readonly limit?: number;
}

export function listOutbox(world: CliWorld, flags: OutboxFlags): Promise<number> {
  const { state, limit } = flags;
  return printList(world, flags, `/api/outbox?${queryOf({ state, limit })}`, {
    columns: [
      ["ENDED", ({ endedAt }) => new Date(numberOf(endedAt)).toISOString()],
      ["STATE", (part) => textOf(part["state"])],
      ["SESSION", ({ sessionKey }) => textOf(sessionKey)],
      ["ATTEMPTS", ({ attempts }) => String(numberOf(attempts))],
      ["WHY", ({ because }) => textOf(because)],
      ["TEXT", ({ message }) => shortText(recordOf(message)["text"], MAX_TEXT_CHARS)],
    ],
    none: state === "ambiguous" ? "No reply may have arrived twice." : "Every reply arrived.",
  });
}

function pathOf(id: string): string {
  return `/api/messages/${encodeURIComponent(id)}`;
}
