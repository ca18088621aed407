/**
 * The rights of a turn while it runs: asked before it begins, followed until it ends, asked once more before its reply is stored. A person who
 * loses access loses the turn: it is stopped, the answer is dropped, and the chat reads one sentence, or nothing where it may not be told anything.
 */
import type { Caller } from "../contracts/agent.ts";
import type { Usage } from "../contracts/chat.ts";
import type { ClientRequest } from "../contracts/client-request.ts";
import { ERRORS } from "../contracts/errors.ts";
import type { Batch, BatchEntry } from "../contracts/queue.ts";
import type { Rights, RightsNow } from "../contracts/channels/rights.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { quietEnd } from "./ending/quiet-turns.ts";
import { type AttemptResult, type EndWithoutSize, withLost } from "./ending/turn-ending.ts";

export interface TurnRightsDeps {
  readonly log: Log;
  readonly rights: Rights;
}

type LostRights = Extract<RightsNow, { kind: "lost" }>;

interface TurnRights extends Disposable {
  /** The turn with the role that its caller has now. */
  readonly batch: Batch;
  /** Aborts when the caller loses access. */
  readonly signal: AbortSignal;
  /** Asks once more, until there is an answer; null: the caller still has access. `unknown`: the gateway leaves first. Never rejects. */
  lost(): Promise<LostRights | "unknown" | null>;
}

const ASK_AGAIN_MS = 1_000;

interface OpenRightsDeps extends TurnRightsDeps {
  readonly clock: Clock;
  /** Aborted when the gateway will not wait any longer. */
  readonly leaving: AbortSignal;
}

/** For whom the turn works, and tools are called. */
export function callerOf(batch: Pick<Batch, "sessionKey" | "turnId" | "agentId" | "role" | "entries">): Caller {
  const { sessionKey, turnId, agentId, role } = batch;
  const [first] = batch.entries;
  if (!first) throw new Error("a turn without messages was taken");
  const { sender, address, scope, place, origin } = first.message;
  const client = clientOf(batch);
  return {
    sessionKey,
    turnId,
    agentId,
    role,
    principal: sender.principal,
    origin: address,
    scope,
    ...(place === undefined ? {} : { place }),
    ...(origin ? { cause: origin } : {}),
    ...(client && client.tools.length > 0 ? { clientTools: client.tools } : {}),
  };
}

/** Of several messages that are answered together, the newest one says it. */
export function clientOf({ entries }: Pick<Batch, "entries">): ClientRequest | undefined {
  return entries.findLast(({ message }) => message.client !== undefined)?.message.client;
}

/** A store that has trouble for a while must not leave a turn without an end: before and after, its rights are asked until they are known. */
export async function openTurnRights(deps: OpenRightsDeps, batch: Batch): Promise<TurnRights> {
  const { clock, log, rights, leaving } = deps;
  const gone = new AbortController();
  const caller = callerOf(batch);
  /** Null: the gateway leaves first. One that leaves asks once all the same: an answer that is complete is stored. */
  const ask = async (): Promise<RightsNow | null> => {
    for (;;) {
      try {
        return await rights.now(caller);
      } catch (error) {
        log.error("rights of a turn could not be read yet", { turnId: batch.turnId, error });
      }
      await clock.sleep(ASK_AGAIN_MS, leaving).catch(() => undefined); // leaving ends the wait below
      if (leaving.aborted) return null;
    }
  };
  const lossIn = (now: RightsNow): LostRights | null => {
    if (now.kind !== "lost") return null;
    if (!gone.signal.aborted)
      log.warn("turn ended: its caller lost access", { turnId: batch.turnId, because: now.because });
    gone.abort(new Error("the caller lost access"));
    return now;
  };
  /** The answer to the first question, for the decision that follows it at once. Null: it was used, or something has changed since it was asked. */
  let first: RightsNow | null = null;
  let changes = 0;
  const watching = rights.onChange(() => {
    first = null;
    changes++;
    rights
      .now(caller)
      .then(lossIn)
      .catch((error: unknown) => {
        log.error("rights of a running turn could not be checked; it is stopped", { turnId: batch.turnId, error });
        gone.abort(error);
      });
  });
  const changesBefore = changes;
  const began = await ask();
  if (changes === changesBefore) first = began;
  return {
    batch: began?.kind === "held" ? withRole(batch, began.role) : batch,
    signal: gone.signal,
    async lost() {
      const now = first ?? (await ask());
      first = null;
      return now === null ? "unknown" : lossIn(now);
    },
    [Symbol.dispose]: () => watching[Symbol.dispose](),
  };
}

function withRole(batch: Batch, role: Batch["role"]): Batch {
  if (role === batch.role) return batch;
  return {
    ...batch,
    role,
    get entries() {
      return batch.entries; // grows while the turn runs
    },
  };
}

/** Asked before and after: a message may have waited for somebody who has no access any more. `spent`: what earlier attempts have cost. */
export async function attemptWithRights(
  rights: TurnRights,
  spent: () => Usage,
  attempt: () => Promise<AttemptResult>,
): Promise<AttemptResult> {
  const { settledBytes } = rights.batch.sessionFile;
  const before = await rights.lost();
  if (before === "unknown") return { kind: "leave" };
  if (before) return { kind: "end", end: revokedEnd(before, withLost(quietEnd(), spent())), settledBytes };
  const result = await attempt();
  const lost = result.kind === "leave" ? null : await rights.lost();
  if (lost === "unknown") return { kind: "leave" };
  if (!lost) return result;
  if (result.kind === "end") return { ...result, end: revokedEnd(lost, result.end) };
  return { kind: "end", end: revokedEnd(lost, withLost(quietEnd(), spent())), settledBytes };
}

/** Messages are steered into a running turn with the rights their senders have now. */
export async function mayJoin(
  { rights }: Pick<TurnRightsDeps, "rights">,
  batch: Batch,
  entries: readonly BatchEntry[],
): Promise<boolean> {
  for (const entry of entries) {
    const now = await rights.now(callerOf({ ...batch, entries: [entry] }));
    if (now.kind === "lost") return false;
  }
  return true;
}

/** Costs stay what they were; words of the agent are not shown. */
function revokedEnd({ because, tell }: LostRights, end: EndWithoutSize): EndWithoutSize {
  const notice = { part: 0, message: { kind: "notice", text: ERRORS.access_revoked.say } } as const;
  return {
    ...end,
    outcome: "failed",
    reply: tell ? [notice] : [],
    error: { code: "access_revoked", detail: because },
  };
}
