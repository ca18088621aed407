/**
 * Steers into a running turn what arrives for it. Each message is stored and waits in its lane like any other while the agent is told. It
 * becomes part of the turn when the agent reports that the model hears it, and then it is joined at once: from there on it is retried, ended
 * and answered with the turn. Told and not taken (the turn just ended, the process died, the agent refused) it simply still waits, so a crash
 * at any point leaves it either in the turn or in front of the next one, never in both and never in neither.
 */
import type { AgentLease } from "../contracts/agent.ts";
import type { InboxId } from "../contracts/ids.ts";
import type { Batch } from "../contracts/queue.ts";
import { type PromptSources, steeringFor } from "./prompt/prompt.ts";
import { mayJoin, type TurnRightsDeps } from "./turn-rights.ts";

export interface SteeringDeps extends TurnRightsDeps {
  readonly prompt: PromptSources;
}

export interface Steering {
  /** After the last event of the prompt: resolves when it is certain what belongs to the turn. */
  over(): Promise<void>;
}

/** `joined` is told what has become part of the turn. */
export function startSteering(
  deps: SteeringDeps,
  {
    lease,
    batch,
    joined,
  }: { readonly lease: AgentLease; readonly batch: Batch; joined(ids: readonly InboxId[]): void },
  signal: AbortSignal,
): Steering {
  const closing = new AbortController();
  const until = AbortSignal.any([signal, closing.signal]);

  const listen = async (): Promise<void> => {
    for (;;) {
      const entries = await batch.offered(until);
      if (entries.length === 0) return;
      if (!(await mayJoin(deps, batch, entries))) return;
      const how = await lease.steer(await steeringFor(deps.prompt, batch, entries), until);
      if (how === "too_late") return;
      const stored = batch.join(entries);
      joined(entries.map(({ id }) => id));
      await stored;
    }
  };
  const done = listen()
    .catch((error: unknown) => deps.log.warn("a message could not be steered into the running turn", { error }))
    .finally(() => batch.decline());
  return {
    async over() {
      closing.abort(new Error("the prompt has ended"));
      await done;
    },
  };
}
