/** Turns that nobody asked for may end without a word: nothing was left to tell, or a heartbeat found nothing. Pure decisions. */
import type { ClaimedEvents } from "../../contracts/automation/system-event.ts";
import type { Batch } from "../../contracts/queue.ts";
import { type AgentEnding, type EndWithoutSize, NOTHING_USED } from "./turn-ending.ts";

const ACK_MAX_CHARS = 300;
/** Messages of these channels have a text of their own, unlike a wake. */
const OWN_CHANNELS: readonly string[] = ["cron", "heartbeat", "hook"];

/** A wake in somebody's chat, whose events an earlier turn has shown already: no model is asked. */
export function hasNothingToSay({ entries }: Pick<Batch, "entries">, told: ClaimedEvents | undefined): boolean {
  if (told && (told.events.length > 0 || told.hidden > 0)) return false;
  return entries.every(({ message: { origin, address } }) => {
    const wakes = origin === "cron" || origin === "heartbeat" || origin === "webhook";
    return wakes && !OWN_CHANNELS.includes(address.channel);
  });
}

export function isHeartbeat({ entries }: Pick<Batch, "entries">): boolean {
  return entries.every(({ message }) => message.origin === "heartbeat");
}

/** "nothing": it is not shown. In the middle of a reply the word means nothing; at its edges it is taken off. */
export function withoutAck(ending: AgentEnding, maxChars = ACK_MAX_CHARS): AgentEnding | "nothing" {
  if (ending.type !== "done") return ending;
  const text = ending.text.trim();
  const edge = /^[*_`"']*HEARTBEAT_OK[*_`"'.!]*/.exec(text)?.[0] ?? "";
  const tail = /[*_`"']*HEARTBEAT_OK[*_`"'.!]*$/.exec(text)?.[0] ?? "";
  if (edge === "" && tail === "") return ending;
  const rest = (edge === "" ? text.slice(0, -tail.length) : text.slice(edge.length)).trim();
  return rest.length <= maxChars ? "nothing" : { ...ending, text: rest };
}

/** A heartbeat run that failed disturbs nobody: the heartbeat tells the owner what matters, once. */
export function quietIfFailed<E extends Pick<EndWithoutSize, "outcome" | "reply">>(
  batch: Pick<Batch, "entries">,
  end: E,
): E {
  return end.outcome === "failed" && isHeartbeat(batch) ? { ...end, reply: [] } : end;
}

export function quietEnd({
  usage = NOTHING_USED,
  model = "",
}: Partial<Pick<AgentEnding, "usage" | "model">> = {}): EndWithoutSize {
  return { outcome: "done", reply: [], usage, model };
}
