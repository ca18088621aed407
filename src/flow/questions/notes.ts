/** Notes of an extension to the chat, which want no answer: short, few in each turn, and none where nobody is there to read them. */
import type { Questions } from "../../contracts/channels/question.ts";
import type { TurnId } from "../../contracts/ids.ts";
import type { ChatPoster } from "../../contracts/store/posts.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { causeOf } from "./decide.ts";

interface NotesDeps {
  readonly ids: Ids;
  readonly log: Log;
  readonly poster: ChatPoster;
}

export const MAX_NOTES_PER_TURN = 5;
export const MAX_NOTE_CHARS = 500;
/** Turns that are remembered; more do not run at once. */
const MAX_TURNS = 1_000;
const PREFIX = { info: "", warning: "Warning: ", error: "Error: " } as const;

export function createNotes({ ids, log, poster }: NotesDeps): Pick<Questions, "tell"> {
  const told = new Map<TurnId, number>();
  const isTooMany = (turnId: TurnId): boolean => {
    const before = told.get(turnId) ?? 0;
    told.delete(turnId);
    told.set(turnId, before + 1);
    const [oldest] = told.keys();
    if (told.size > MAX_TURNS && oldest !== undefined) told.delete(oldest);
    return before >= MAX_NOTES_PER_TURN;
  };
  return {
    async tell({ text, level }, caller) {
      const { turnId, sessionKey, origin } = caller;
      const note = text.trim();
      const cause = causeOf(caller);
      if (note === "" || cause !== "chat" || isTooMany(turnId)) return log.debug("note not shown", { turnId, cause });
      const cut = note.length > MAX_NOTE_CHARS ? `${note.slice(0, MAX_NOTE_CHARS).toWellFormed()}…` : note;
      const message = { kind: "reply", text: `${PREFIX[level]}${cut}`, format: "plain" } as const;
      try {
        await poster.post({ turnId, sessionKey, to: origin, onceKey: ids.next("note"), message });
      } catch (error) {
        log.warn("note not shown", { turnId, error });
      }
    },
  };
}
