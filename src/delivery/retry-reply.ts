/** Sends a reply again that was given up, or may not have arrived, because a person wants it. Refuses what its chat cannot get; nothing is changed then. */
import type { Channel } from "../contracts/channel.ts";
import type { Outbox, OutboxRow, ReplyRetries } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { OutboxStore } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";

interface ReplyRetryDeps {
  readonly clock: Clock;
  readonly events: Pick<Events, "emit">;
  readonly store: Pick<OutboxStore, "part" | "retry">;
  readonly channels: { get(id: string): Channel | undefined };
  /** Whether the chat may still get this part. */
  mayReceive(row: OutboxRow): Promise<boolean>;
  readonly outbox: Pick<Outbox, "lookAgain">;
}

export function createReplyRetries(deps: ReplyRetryDeps): ReplyRetries {
  return {
    async retry(id, request) {
      const part = await deps.store.part(id);
      if (!part) return { kind: "unknown" };
      const { channel } = part.to;
      if (!deps.channels.get(channel)) return { kind: "no_channel", channel };
      if (!(await deps.mayReceive(part))) return { kind: "no_access" };
      const result = await deps.store.retry(id, request, deps.clock.now());
      if (result.kind !== "retried") return result;
      deps.outbox.lookAgain(result);
      deps.events.emit("status", { what: "outbox" });
      return result;
    },
  };
}
