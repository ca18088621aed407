/** An ended turn as something to write down: who said what, and what was answered. */
import type { GatewayEvents } from "../contracts/events.ts";
import type { Batch } from "../contracts/queue.ts";
import { withQuoted } from "../kit/marks/quoted.ts";
import type { EndWithoutSize } from "./ending/turn-ending.ts";

export function recordOf(batch: Batch, end: EndWithoutSize, ms: number): GatewayEvents["turn.recorded"] {
  const { sessionKey, turnId, role } = batch;
  const { outcome, usage, model } = end;
  const said = batch.entries.map(({ message: { sender, text, quoted, attachments, receivedAt } }) => ({
    at: receivedAt,
    principal: sender.principal,
    name: sender.name,
    text: withQuoted(text, quoted),
    attachments: attachments.map(({ name }) => name),
  }));
  return { sessionKey, turnId, role, said, reply: end.reply.map(({ message }) => message), outcome, ms, usage, model };
}
