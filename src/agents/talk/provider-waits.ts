/** What the provider of a running turn has asked for: from the bridge's reports to what the turn does about them. Decides alone; pi and the bridge act. */
import type { AgentEvent } from "../../contracts/agent.ts";
import type { Clock } from "../../kit/clock.ts";
import type { PiEvent } from "./protocol.ts";

interface ProviderWaits {
  /** `pass`: the event says nothing about waits that need be acted upon. `give_up`: pi must not try again. */
  take(event: PiEvent): "pass" | "give_up" | { readonly waitMs: number; readonly until: number };
  /** On the clock of elapsed time: nothing is expected to be heard before. */
  quietUntil(): number;
  /** The last event, with the time that the provider named. Only its own failures pass with it. */
  told(last: AgentEvent): AgentEvent;
}

export function createProviderWaits(clock: Clock, limitMs: number): ProviderWaits {
  let quietUntil = -Infinity;
  let askedMs = 0; // by the refusal that pi has not yet acted upon
  let tryAt: number | null = null; // what the newest refusal said
  return {
    quietUntil: () => quietUntil,
    take(event) {
      switch (event.type) {
        case "provider_asked":
          askedMs = event.waitMs;
          tryAt = clock.now() + event.waitMs;
          return "pass";
        case "provider_waiting":
          quietUntil = clock.elapsed() + event.waitMs;
          return { waitMs: event.waitMs, until: clock.now() + event.waitMs };
        case "message_ended":
          if (event.message.stop !== "error") tryAt = null;
          return "pass";
        case "retrying": {
          const tooLong = askedMs > limitMs;
          askedMs = 0;
          return tooLong ? "give_up" : "pass";
        }
        default:
          return "pass";
      }
    },
    told(last) {
      const isProviders = last.type === "failed" && last.code.startsWith("provider_");
      return isProviders && tryAt !== null ? { ...last, tryAt } : last;
    },
  };
}
