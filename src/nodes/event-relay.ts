/**
 * What happens at one gateway is seen at all: its events are told to the others, and theirs are heard here. Whoever watches hears both; whoever
 * counts, records or acts for plugins hears only what happened here, so that nothing counts twice.
 */
import { CLIENT_EVENTS, type ClientEventName, type Events } from "../contracts/events.ts";
import type { NodeNews, OtherNodes } from "../contracts/nodes.ts";

/** Emits here; hears what happened here and elsewhere. */
export function joinEvents(own: Events, heard: Pick<Events, "on">): Events {
  return {
    emit: own.emit,
    on(event, listener) {
      const both = [own.on(event, listener), heard.on(event, listener)];
      return {
        [Symbol.dispose]() {
          for (const one of both) one[Symbol.dispose]();
        },
      };
    },
  };
}

/** Tells the others what happens here. */
export function relayEvents(own: Pick<Events, "on">, nodes: Pick<OtherNodes, "tell">): void {
  const relay = <E extends ClientEventName>(event: E): void => {
    own.on(event, (data) => nodes.tell("event", { event, data } as NodeNews["event"]));
  };
  for (const event of CLIENT_EVENTS) relay(event);
}
