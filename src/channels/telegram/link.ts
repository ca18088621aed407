/** How the connection of one account is doing, in words for people. The only state of its kind: ready, health and status read it. */
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { Fault } from "./api/faults.ts";

/** connecting ⇄ up ⇄ down; nothing is ever final, because tokens, networks and other programs come and go. */
type State =
  | { readonly at: "connecting" }
  | { readonly at: "up"; readonly lastAt: number }
  | { readonly at: "down"; readonly since: number; readonly because: string; readonly canSend: boolean };

export interface Link {
  up(): void;
  down(fault: Fault): void;
  note(because: string): void;
  canSend(): boolean;
  health(): { readonly ok: boolean; readonly detail: string };
}

export function createLink(deps: { readonly clock: Clock; readonly log: Log; changed(): void }, how: string): Link {
  let state: State = { at: "connecting" };
  const become = (next: State): void => {
    const changed =
      state.at !== next.at || (state.at === "down" && next.at === "down" && state.because !== next.because);
    state = next;
    if (changed) deps.changed();
  };
  const sink = (because: string, canSend: boolean): void => {
    const since = state.at === "down" ? state.since : deps.clock.now();
    if (state.at !== "down" || state.because !== because) deps.log.warn("telegram connection in trouble", { because });
    become({ at: "down", since, because, canSend });
  };
  return {
    up() {
      if (state.at === "down")
        deps.log.info("telegram connection is back", { afterMs: deps.clock.now() - state.since });
      become({ at: "up", lastAt: deps.clock.now() });
    },
    down(fault) {
      // only sending is left when somebody else polls; with a limit or a broken network not even that
      sink(wordsOf(fault), fault.info.kind === "conflict" || fault.info.kind === "limited");
    },
    note: (because) => sink(because, true),
    canSend: () => state.at === "up" || (state.at === "down" && state.canSend),
    health() {
      if (state.at === "connecting") return { ok: false, detail: "connecting" };
      if (state.at === "down") return { ok: false, detail: state.because };
      return { ok: true, detail: `${how}, last answer ${Math.round((deps.clock.now() - state.lastAt) / 1_000)} s ago` };
    },
  };
}

function wordsOf({ info, message }: Fault): string {
  if (info.kind === "unauthorized")
    return "Telegram does not know this bot token. Copy it again from @BotFather into the configuration.";
  if (info.kind === "conflict")
    return "Another program asks for the messages of this bot. Stop it, or use a bot of its own for each.";
  if (info.kind === "limited") return message;
  return `Telegram cannot be reached (${message}). Trying again.`;
}
