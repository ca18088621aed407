/** Sentences about a provider that asks to wait: while the turn waits, and when it has given up. Pure but for the time zone of the person. */
import type { Batch } from "../../contracts/queue.ts";
import type { Clock } from "../../kit/clock.ts";
import { createCalendar, type TurnContext } from "../prompt/turn-context.ts";

/** A moment in the time of who asks: `14:03 (Europe/Berlin)`, with its day when that is another one. */
export type TimeText = (at: number) => string;

export function timeText(
  { clock, prompt }: { readonly clock: Clock; readonly prompt: { readonly context: Pick<TurnContext, "zoneOf"> } },
  batch: Batch,
): TimeText {
  return (at) => {
    const zone = prompt.context.zoneOf(batch);
    const calendar = createCalendar(zone);
    const [day = "", time = ""] = calendar.time(at).split("T");
    const today = calendar.time(clock.now()).startsWith(day);
    return `${today ? "" : `${day} `}${time.slice(0, "14:03".length)} (${zone})`;
  };
}

export function waitSentence(
  { model, waitMs, until }: { readonly model: string; readonly waitMs: number; readonly until: number },
  time: TimeText,
): string {
  return `${providerOf(model)} asks to wait ${Math.ceil(waitMs / 1_000)} s; trying again at ${time(until)}.`;
}

export function providerOf(model: string): string {
  return model.split("/")[0] || "The model provider";
}

/** A sentence of the catalogue that ends with when to try again, with the time that the provider named. */
export function withTime(say: string, time: string): string {
  return `${say.replace(/ Try again( in a moment)?\.$/, "")} It asks to wait until ${time}: try again then.`;
}
