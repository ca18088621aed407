/** The gateway's event map as an emitter. Emission is synchronous; a listener that throws is logged and hurts nobody else. */
import type { EventName, Events, GatewayEvents } from "../contracts/events.ts";
import type { Log } from "../kit/log.ts";

type Listener<E extends EventName> = (data: GatewayEvents[E]) => void;
type Listeners = { [E in EventName]?: readonly Listener<E>[] };

export function createEvents(deps: { readonly log: Log }): Events {
  const listeners: Listeners = {};

  const set = <E extends EventName>(event: E, list: readonly Listener<E>[]): void => {
    (listeners as Record<E, readonly Listener<E>[]>)[event] = list;
  };

  return {
    emit(event, data) {
      const heard: readonly Listener<typeof event>[] | undefined = listeners[event];
      if (!heard) return;
      // Lists are replaced, never changed: a listener that comes or goes during an emission does not disturb it.
      for (let at = 0; at < heard.length; at++) {
        try {
          heard[at]?.(data);
        } catch (error) {
          deps.log.error("event listener failed", { event, error });
        }
      }
    },
    on(event, listener) {
      // Wrapped, so that one function registered twice is two registrations, each with its own end.
      const own: Listener<typeof event> = (data) => listener(data);
      set(event, [...(listeners[event] ?? []), own]);
      return {
        [Symbol.dispose]() {
          set(
            event,
            (listeners[event] ?? []).filter((other) => other !== own),
          );
        },
      };
    },
  };
}
