/** Takes away what a previous process has shown of answers that no reply follows. Which message it was has been written down before. */
import type { TurnId } from "../../../contracts/ids.ts";
import { createTasks } from "../../kit/index.ts";
import { Fault } from "../api/faults.ts";
import type { LiveDeps } from "./live.ts";

interface LeftPreviews {
  /** The turn is tried again: what was shown of it stays until its end. */
  begun(turnId: TurnId): void;
  over(turnId: TurnId): void;
  /** A reply takes over what was shown of this turn. When it resolves, nothing of it is being taken away. */
  claim(turnId: TurnId): Promise<void>;
  settled(): Promise<void>;
}

/** How the keys of all previews begin. */
export const KEYS = "preview:";
/** Written down before a preview is sent: from now on it may be shown, and nobody knows where. */
export const BEGUN = "begun";
/** Added when a reply begins to be written into it: from then on it may be one, and is no preview any more. */
export const TAKEN = "@taken";

/** Whatever is sent or tried again has begun by then. */
const LEFT_MS = 30_000;
const AGAIN_MS = 120_000;
const MAX_TRIES = 15;

type LeftDeps = Pick<LiveDeps, "clock" | "log" | "api" | "facts" | "moved" | "owes"> & { readonly account: string };

export function startLeftPreviews(deps: LeftDeps, signal: AbortSignal): LeftPreviews {
  const left = new Set<TurnId>();
  const running = new Set<TurnId>();
  const removing = new Map<TurnId, Promise<unknown>>();
  const tasks = createTasks((error) => deps.log.debug("preview not cleaned up", { error }));

  const wait = async (turnId: TurnId, waitMs: number): Promise<void> => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      await deps.clock.sleep(tries === 0 ? waitMs : AGAIN_MS, signal).catch(() => undefined); // the next process looks again
      if (signal.aborted || running.has(turnId) || !left.has(turnId)) return;
      const removed = takeAway(deps, turnId, signal);
      removing.set(turnId, removed);
      const done = await removed.finally(() => removing.delete(turnId));
      if (done) return void left.delete(turnId);
    }
  };
  const lookBack = async (): Promise<void> => {
    for (const { key } of await deps.facts.list(KEYS)) {
      const turnId = key.slice(KEYS.length) as TurnId;
      left.add(turnId);
      void tasks.add(wait(turnId, LEFT_MS));
    }
  };
  void tasks.add(lookBack());

  return {
    begun(turnId) {
      running.add(turnId); // also before it is known what was left: that is being read
    },
    over(turnId) {
      if (running.delete(turnId) && left.has(turnId)) void tasks.add(wait(turnId, AGAIN_MS));
    },
    async claim(turnId) {
      left.delete(turnId);
      await removing.get(turnId)?.catch(() => undefined); // whoever removes says so
    },
    settled: () => tasks.settled(),
  };
}

/** False: not now. */
async function takeAway(deps: LeftDeps, turnId: TurnId, signal: AbortSignal): Promise<boolean> {
  const { api, account, facts, log, moved, owes } = deps;
  const known = await facts.get(KEYS + turnId);
  if (known === null) return true;
  const [messageId = "", where] = known.split("@"); // and perhaps that it is taken
  if (known === BEGUN || where === undefined) {
    log.warn("preview in doubt: it may be shown without an end", { turnId });
  } else {
    if (owes({ channel: "telegram", account, chat: moved.first(where) })) return false;
    const failed = known.endsWith(TAKEN)
      ? null
      : await api.call("deleteMessage", { chat_id: where, message_id: Number(messageId) }, signal).then(
          () => null,
          (error: unknown) => error,
        );
    if (signal.aborted) return false;
    if (failed !== null && !(failed instanceof Fault && failed.info.kind === "refused")) return false;
  }
  await facts.forget(KEYS + turnId);
  return true;
}
