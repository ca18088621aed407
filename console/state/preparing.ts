/** Tells the gateway that somebody may write soon: they have opened a conversation, or begin to type in it. A hint: nobody waits for its answer. */
import { effect, untracked } from "@preact/signals";
import { chat, line, request, turnRuns, view } from "./console-state.ts";
import { readOnlyBecause } from "./route.ts";

/** Who has not typed for this long begins anew; by then another may have needed the process. */
const TYPING_PAUSE_MS = 30_000;

interface Keystroke {
  readonly session: string;
  readonly at: number;
}

/** The first keystroke in a conversation, or after a pause. */
export function beginsTyping(before: Keystroke | null, { session, at }: Keystroke): boolean {
  return before?.session !== session || at - before.at >= TYPING_PAUSE_MS;
}

let last: Keystroke | null = null;

/** A person has typed; a draft that is shown again is not typed. */
export function noteKeystroke(): void {
  const now = { session: chat.value.key, at: Date.now() };
  const begins = beginsTyping(last, now);
  last = now;
  if (begins) prepare(now.session);
}

/** From now on, once for each conversation that is opened where somebody looks at it. */
export function prepareOpened(): void {
  let opened = "";
  effect(() => {
    const { key, phase } = chat.value;
    if (phase !== "ready" || view.value !== "chat" || key === opened) return;
    opened = key;
    if (document.visibilityState === "visible") untracked(() => prepare(key));
  });
}

function prepare(session: string): void {
  if (line.value !== "open" || turnRuns.value || readOnlyBecause(session) !== null) return;
  request("sessions.prepare", { session }).catch(() => undefined); // its message opens it then
}
