/** Follows hints that somebody may write soon: the web console opens a conversation, a person types. Passes the same access check as a message; begins no turn and stores nothing. */
import type { AgentPool, PrepareRequest } from "../contracts/agent.ts";
import { isGatewayError } from "../contracts/errors.ts";
import type { PreparedSession, SessionPreparer } from "../contracts/flow.ts";
import type { SessionKey, TurnId } from "../contracts/ids.ts";
import type { Queue } from "../contracts/queue.ts";
import type { RouteFacts, Router, Verdict } from "../contracts/routing.ts";
import type { TurnStore } from "../contracts/store/turns.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { HINT_EVERY_MS, mayPrepare } from "./may-prepare.ts";

interface PreparerDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly router: Router;
  readonly queue: Pick<Queue, "isBusy">;
  /** This gateway is the home of the session. */
  readonly isHome: (sessionKey: SessionKey) => boolean;
  readonly turns: Pick<TurnStore, "upcoming">;
  readonly pool: Pick<AgentPool, "prepare">;
}

/** Sessions whose last hint is remembered; of more, the oldest is forgotten. */
const MAX_REMEMBERED = 1_000;

type Accepted = Extract<Verdict, { kind: "accept" }>;

export function createSessionPreparer(deps: PreparerDeps, stopping: AbortSignal): SessionPreparer {
  const { clock, log } = deps;
  const hints = createHints(clock);

  const follow = async (facts: RouteFacts, verdict: Accepted, signal: AbortSignal): Promise<PreparedSession> => {
    const done = hints.begin(verdict.sessionKey);
    try {
      const request = await requestOf(deps, facts, verdict);
      const { prepares, because, over } = await deps.pool.prepare(request, AbortSignal.any([signal, stopping]));
      void over.finally(done);
      return { prepares, because };
    } catch (error) {
      done();
      log.debug("nothing could be prepared", { sessionKey: verdict.sessionKey, error });
      return { prepares: "nothing", because: isGatewayError(error) ? error.code : "failed" };
    }
  };

  return {
    async prepare(facts, signal) {
      const verdict = deps.router.decide(facts);
      if (verdict.kind === "refuse") return { prepares: "nothing", because: verdict.because };
      const { sessionKey, role } = verdict;
      const decision = mayPrepare({
        isStopping: stopping.aborted,
        role,
        isHome: deps.isHome(sessionKey),
        isBusy: deps.queue.isBusy(sessionKey),
        sinceLastMs: hints.sinceLastMs(sessionKey),
        underWay: hints.underWay(),
      });
      if (!decision.may) return { prepares: "nothing", because: decision.because };
      const result = await follow(facts, verdict, signal);
      log.debug("hint followed", { sessionKey, ...result });
      return result;
    },
  };
}

async function requestOf({ ids, turns }: PreparerDeps, facts: RouteFacts, verdict: Accepted): Promise<PrepareRequest> {
  const { sessionKey, agentId, role } = verdict;
  const { sender, address, scope, place } = facts;
  const next = await turns.upcoming(sessionKey);
  const { name = "", settledBytes = 0 } = next?.sessionFile ?? {};
  return {
    caller: {
      sessionKey,
      turnId: ids.next("turn") as TurnId, // there is none: only a turn that takes the process acts for somebody
      agentId,
      role,
      principal: sender.principal,
      origin: address,
      scope,
      ...(place === undefined ? {} : { place }),
    },
    session: settledBytes === 0 ? null : { sessionFile: name, settledBytes },
    ...(next?.settings.model ? { model: next.settings.model } : {}),
  };
}

/** Which hints were followed a moment ago, and which still are. */
function createHints(clock: Clock) {
  const last = new Map<SessionKey, number>();
  let running = 0;
  return {
    underWay: () => running,
    sinceLastMs(key: SessionKey): number | null {
      const now = clock.elapsed();
      for (const [one, at] of last) if (now - at >= HINT_EVERY_MS) last.delete(one);
      const at = last.get(key);
      return at === undefined ? null : now - at;
    },
    /** Ends with the function that it returns. */
    begin(key: SessionKey): () => void {
      const [oldest] = last.keys();
      if (last.size >= MAX_REMEMBERED && oldest !== undefined) last.delete(oldest);
      last.set(key, clock.elapsed());
      running++;
      return () => void running--;
    },
  };
}
