/**
 * Takes previews away that no reply has taken over: of a turn that ended without one, also when Discord's answer to the send was lost, and of
 * turns of a previous process.
 */
import type { TurnId } from "../../../contracts/ids.ts";
import { createTasks } from "../../kit/index.ts";
import { failureOf, isGone } from "./failure.ts";
import { firstPartOf, nonceOf } from "./nonce.ts";
import { keyOf, KEYS, type KnownPreview, notePreview, type PreviewDeps, readPreview } from "./preview-turn.ts";
import { DEDUPE_MS } from "./send.ts";

interface Orphans extends AsyncDisposable {
  /** The turn has begun: whatever a previous process has shown of it stays until its end. */
  begun(turnId: TurnId): void;
  /** The turn has ended. `quiet`: what it was about to show is shown; null: it has shown nothing in this process. */
  over(turnId: TurnId, quiet: Promise<unknown> | null): void;
  /** When it resolves, nothing of this turn is being taken away. */
  settled(turnId: TurnId): Promise<void>;
  /** Takes away at once what is shown of this turn, although more is owed to its chat. */
  remove(turnId: TurnId): Promise<void>;
}

/** A reply that was to come has come by then, or waits in the outbox. */
const ORPHAN_MS = 60_000;
/** The same after a start: soon enough for Discord to know the nonce still. */
const LEFT_MS = 20_000;
const MAX_TRIES = 30;
const SUPPRESS_NOTIFICATIONS = 1 << 12;

interface Waiting {
  readonly turnId: TurnId;
  readonly waitMs: number;
  /** Resolves when it may be looked at. */
  readonly quiet: Promise<unknown>;
}

export function startOrphans(deps: PreviewDeps): Orphans {
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Shown by a previous process. */
  const left = new Set<TurnId>();
  const running = new Set<TurnId>();
  const removing = new Map<TurnId, Promise<unknown>>();
  const tasks = createTasks((error) => deps.log.debug("preview not cleaned up", { error }));

  const remove = async (turnId: TurnId, owes: PreviewDeps["owes"] = deps.owes): Promise<boolean> => {
    const removed = takeAway({ ...deps, owes }, turnId, signal);
    removing.set(turnId, removed);
    return removed.finally(() => removing.delete(turnId));
  };
  const wait = async ({ turnId, waitMs, quiet }: Waiting): Promise<void> => {
    await quiet;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      await deps.clock.sleep(tries === 0 ? waitMs : ORPHAN_MS, signal).catch(() => undefined); // the next process looks again
      if (signal.aborted || running.has(turnId)) return;
      if (await remove(turnId)) return void left.delete(turnId);
    }
  };
  const lookBack = async (): Promise<void> => {
    for (const { key } of await deps.facts.list(KEYS)) {
      const turnId = key.slice(KEYS.length) as TurnId;
      left.add(turnId);
      void tasks.add(wait({ turnId, waitMs: LEFT_MS, quiet: Promise.resolve() }));
    }
  };
  void tasks.add(lookBack());

  return {
    begun(turnId) {
      running.add(turnId); // also before it is known what was left: that is being read
    },
    over(turnId, quiet) {
      running.delete(turnId);
      if (quiet === null && !left.has(turnId)) return;
      void tasks.add(wait({ turnId, waitMs: ORPHAN_MS, quiet: quiet ?? Promise.resolve() }));
    },
    async settled(turnId) {
      await removing.get(turnId)?.catch(() => undefined); // whoever removes says so
    },
    async remove(turnId) {
      await remove(turnId, () => false);
    },
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("the channel is closing"));
      await tasks.settled();
    },
  };
}

/** False: not now. */
async function takeAway(deps: PreviewDeps, turnId: TurnId, signal: AbortSignal): Promise<boolean> {
  const first = await readPreview(deps.facts, turnId);
  if (first === null) return true; // its reply stands there
  if (deps.owes(deps.addressOf(first.channel))) return false;
  // read again: what was owed a moment ago may have been delivered into it
  const known = await readPreview(deps.facts, turnId);
  if (known === null) return true;
  try {
    const message = known.taken ? null : await messageOf(deps, known, turnId, signal);
    if (message !== null) await deps.api.channels.deleteMessage(known.channel, message, { signal });
  } catch (error) {
    if (signal.aborted) return false;
    const failure = failureOf(error);
    deps.log.debug("preview not removed", { kind: failure.kind });
    if (failure.kind !== "refused") return false;
  }
  await deps.facts.forget(keyOf(turnId));
  return true;
}

/** Which message it is. Sent under its nonce once more, it is the one that is there already, or a silent one that goes at once. */
async function messageOf(
  { api, clock, facts, log }: PreviewDeps,
  known: KnownPreview,
  turnId: TurnId,
  signal: AbortSignal,
): Promise<string | null> {
  if (known.kind === "shown") return known.message;
  if (clock.now() - known.at > DEDUPE_MS) {
    log.warn("preview in doubt: it may be shown without an end", { turnId });
    return null;
  }
  const asked = { content: "…", flags: SUPPRESS_NOTIFICATIONS };
  const name = { nonce: nonceOf(firstPartOf(turnId), 0), enforce_nonce: true };
  try {
    const found = await api.channels.createMessage(known.channel, { ...asked, ...name }, { signal });
    await notePreview(facts, turnId, { kind: "shown", channel: known.channel, message: found.id, taken: false });
    return found.id;
  } catch (error) {
    if (isGone(error)) return null; // somebody else has deleted it
    throw error;
  }
}
