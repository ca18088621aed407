/** What extensions of one process ask and tell people: passed on for whom the process works now, and for nobody outside of a turn. */
import type { Caller } from "../../contracts/agent.ts";
import type { ChatAnswer, ChatNote, Questions } from "../../contracts/channels/question.ts";
import { background } from "../../kit/background.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { Dialog } from "../process/wire.ts";
import type { Fields } from "./protocol.ts";

export interface Asking {
  ask(dialog: Dialog): Promise<Fields>;
  tell(note: ChatNote): void;
  /** From now on questions are asked for this caller; null: of nobody. Those of the one before are over. */
  serve(caller: Caller | null): void;
  /** A turn begins: people can be asked. */
  listen(): void;
  /** Nobody waits for answers any more: open questions are over, and new ones have no answer. */
  hush(): void;
  /** On the clock of elapsed time: now, while a person is being asked; otherwise when that was last so. */
  lastAsked(): number;
}

export interface AskingDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Without it nobody can be asked. */
  readonly questions?: Pick<Questions, "ask" | "tell">;
}

const CANCELLED: Fields = { cancelled: true };

export function createAsking({ clock, log, questions }: AskingDeps): Asking {
  let caller: Caller | null = null;
  let over = new AbortController();
  let open = 0;
  let lastAsked = 0;
  const hush = (): void => over.abort(new Error("the turn is over"));
  const listen = (): void => {
    if (over.signal.aborted) over = new AbortController();
  };
  const tellPeople = (note: ChatNote, to: Caller): void =>
    background(log, "note of an agent not told", () => questions?.tell(note, to));
  return {
    hush,
    listen,
    serve(given) {
      hush();
      listen();
      caller = given;
    },
    lastAsked: () => (open > 0 ? clock.elapsed() : lastAsked),
    tell(note) {
      if (caller && !over.signal.aborted) tellPeople(note, caller);
    },
    async ask({ asks }) {
      if (!caller || !asks || !questions || over.signal.aborted) return CANCELLED;
      open++;
      try {
        return responseOf(await questions.ask(asks, caller, over.signal));
      } finally {
        open--;
        lastAsked = clock.elapsed();
      }
    },
  };
}

/** pi's words for it. */
function responseOf(answer: ChatAnswer): Fields {
  switch (answer.kind) {
    case "chosen":
      return { value: answer.option };
    case "confirmed":
      return { confirmed: answer.yes };
    case "said":
      return { value: answer.text };
    case "none":
      return CANCELLED;
  }
}
