/** Hands events from a callback to a reader. Text that waits is joined, so a slow reader costs no more memory than the text itself. */
import type { AgentEvent } from "../../contracts/agent.ts";
import { type Deferred, deferred } from "../../kit/deferred.ts";

interface EventQueue {
  push(event: AgentEvent): void;
  close(): void;
  events(): AsyncGenerator<AgentEvent, void, void>;
}

export function createEventQueue(): EventQueue {
  const waiting: AgentEvent[] = [];
  let closed = false;
  let wake: Deferred<void> | null = null;

  return {
    push(event) {
      const last = waiting.at(-1);
      if ((event.type === "text" || event.type === "thought") && last?.type === event.type) {
        waiting[waiting.length - 1] = { type: event.type, delta: last.delta + event.delta };
      } else waiting.push(event);
      wake?.resolve();
    },
    close() {
      closed = true;
      wake?.resolve();
    },
    async *events() {
      while (true) {
        const next = waiting.shift();
        if (next) yield next;
        else if (closed) return;
        else {
          wake = deferred();
          await wake.promise;
          wake = null;
        }
      }
    },
  };
}
