/** `pi-gw messages` and `pi-gw outbox`: withdrawing or changing a message that waits, and replies that did not simply arrive, which can be sent again. */
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
      ["ID", ({ id }) => textOf(id)],
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

export function retryReply(
  world: CliWorld,
  id: string,
  flags: CommonFlags & { readonly yes?: boolean },
): Promise<number> {
  const query = flags.yes ? "?mayRepeat=true" : "";
  const request = { method: "POST", path: `/api/outbox/${encodeURIComponent(id)}/retry${query}` } as const;
  return printAnswer(world, flags, request, ({ from }) =>
    from === "ambiguous"
      ? "The reply is being sent again. Its chat may show it twice."
      : "The reply is being sent again.",
  );
}

function pathOf(id: string): string {
  return `/api/messages/${encodeURIComponent(id)}`;
}
