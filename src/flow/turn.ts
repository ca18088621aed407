/**
 * Message out: take a turn → attempt it → end it and store the reply in one transaction → deliver. Every turn ends visibly: with a reply, or
 * with a notice that says what happened.
 */
import type { AgentId } from "../contracts/ids.ts";
import type { Batch, FinishedTurn, Queue, TurnEnd } from "../contracts/queue.ts";
import { deferred } from "../kit/deferred.ts";
import type { Log } from "../kit/log.ts";
import { attempt } from "./attempt.ts";
import { billOf } from "./billing.ts";
import type { LiveTurnWriter } from "./live-turns.ts";
import { quietIfFailed } from "./ending/quiet-turns.ts";
import { reviewReply } from "./ending/reply-review.ts";
import { createSpanRecorder } from "./spans.ts";
import { type AttemptResult, NOTHING_USED, withReplyTo } from "./ending/turn-ending.ts";
import { recordOf } from "./turn-record.ts";
import { attemptWithRights, openTurnRights } from "./turn-rights.ts";
import type { AttemptWorld, TurnsDeps, TurnsOptions, TurnWorld } from "./turn-world.ts";

const FINISH_RETRY_MS = 1_000;
/** Commands look things up; a few at a time keep any crowd of them short. */
const MAX_COMMANDS_AT_ONCE = 4;

/** `options` is asked for each turn and its agent, so that a changed configuration holds from the next one on. */
export function startTurns(deps: TurnsDeps, options: (agentId?: AgentId) => TurnsOptions): AsyncDisposable {
  const closing = new AbortController();
  const leaving = new AbortController();
  const running = new Set<Promise<void>>();
  const world: TurnWorld = { ...deps, leaving: leaving.signal, lost: new Map() };

  const dispatch = async (take: Queue["take"], max: () => number): Promise<void> => {
    const mine = new Set<Promise<void>>();
    while (!closing.signal.aborted) {
      if (mine.size >= max()) await Promise.race(mine);
      const room = Math.max(1, max() - mine.size);
      const batch = await take(closing.signal, room).catch(() => null); // rejects only because we are closing
      if (!batch) return;
      const replied = deferred<void>();
      // Its process is free in a moment: where nothing waits, the next message begins its turn when it is stored. What waits is chosen from
      // when the process is free, because the session that it has open goes first.
      const free = (): void => {
        if (deps.queue.stats().waiting === 0) replied.resolve();
      };
      const turn: Promise<void> = runTurn(world, batch, options(batch.agentId), free)
        .catch((error: unknown) => deps.log.error("turn fell apart", { turnId: batch.turnId, error }))
        .finally(() => running.delete(turn) && replied.resolve());
      running.add(turn);
      const place: Promise<void> = replied.promise.finally(() => mine.delete(place));
      mine.add(place);
    }
  };
  const dispatchers = Promise.all([
    dispatch(
      (signal, room) => deps.queue.take(signal, room, (key) => deps.agents.pool.hasOpen(key)),
      () => deps.agents.pool.stats().max,
    ),
    dispatch(
      (signal) => deps.queue.takeCommand(signal),
      () => MAX_COMMANDS_AT_ONCE,
    ),
  ]);

  return {
    async [Symbol.asyncDispose]() {
      closing.abort(new Error("the gateway is stopping"));
      using limit = deps.clock.deadline(
        options().graceMs,
        () => new Error("the gateway stopped before the turn ended"),
      );
      limit.signal.addEventListener("abort", () => leaving.abort(limit.signal.reason), { once: true });
      await dispatchers;
      await Promise.all(running);
    },
  };
}

/** `replied`: told when the reply is on its way, and only tidying up is left to do. */
async function runTurn(world: TurnWorld, batch: Batch, options: TurnsOptions, replied: () => void): Promise<void> {
  const startedAt = world.clock.elapsed();
  const writer = world.live.open(batch);
  try {
    await using held = new AsyncDisposableStack();
    const spans = createSpanRecorder(world.clock, batch.acceptedAt);
    using rights = await openTurnRights(world, batch);
    const earlier = () => world.lost.get(batch.turnId) ?? NOTHING_USED;
    const own = {
      ...world,
      spans,
      held,
      said: { posts: 0, thoughts: "" },
      cost: { besides: earlier() },
      revoked: rights.signal,
    };
    const result = await attemptWithRights(rights, earlier, () => attempt(own, rights.batch, options, writer));
    if (result.kind === "end") return await endTurn(own, batch, result, { startedAt, writer, replied });
    await held.disposeAsync();
    if (result.kind === "leave") await batch.abandon();
    else await batch.retry(result.because);
  } finally {
    writer.close();
  }
}

interface TurnProgress {
  readonly startedAt: number;
  readonly writer: LiveTurnWriter;
  readonly replied: () => void;
}

/** Reviews the reply, stores the end, tells everybody, and lets the outbox deliver. */
async function endTurn(
  world: AttemptWorld,
  batch: Batch,
  result: Extract<AttemptResult, { kind: "end" }>,
  { startedAt, writer, replied }: TurnProgress,
): Promise<void> {
  const { clock, events, spans } = world;
  const { turnId, sessionKey, attempt: number } = batch;
  const log = world.log.child({ turnId, sessionKey });
  world.lost.delete(turnId);
  const bill = billOf(world.budget, batch, result.end);
  const shown = withReplyTo(batch, quietIfFailed(batch, result.end));
  const reply = await reviewReply({ clock, log, hooks: world.replies.hooks }, batch, shown.reply);
  const end = { ...shown, reply, spans: spans.close(), ...(bill ? { spent: bill } : {}) };
  const { settledBytes, fileChange } = result;
  const stored = { ...end, settledBytes, ...(fileChange ? { fileChange } : {}) };
  const finished = await storeEnd(world, batch, stored, log);
  if (!finished) return;
  if (bill) world.budget.count(bill);
  const ms = Math.round(clock.elapsed() - startedAt);
  const sinceAcceptedMs = spans.sinceAcceptedMs();
  writer.close();
  const { outcome, usage, model, error } = end;
  const inboxIds = batch.entries.map(({ id }) => id);
  events.emit("turn.measured", { turnId, attempt: number, spans: end.spans, sinceAcceptedMs });
  events.emit("turn.ended", { sessionKey, turnId, outcome, ms, usage, inboxIds });
  world.replies.outbox.wake(finished.stored);
  replied();
  await outboxHasStarted();
  events.emit("turn.recorded", recordOf(batch, end, ms));
  log.info("turn ended", { outcome, ms, attempt: number, model, code: error?.code, detail: error?.detail });
}

/** The reply exists and must not be lost to a full disk: it is offered to the store until the store takes it, or until the gateway leaves. */
async function storeEnd(world: AttemptWorld, batch: Batch, end: TurnEnd, log: Log): Promise<FinishedTurn | null> {
  for (;;) {
    try {
      const finished = await batch.finish(end);
      if (!finished) log.warn("turn was taken over; its reply is dropped", { attempt: batch.attempt });
      return finished;
    } catch (error) {
      log.error("turn could not be stored yet", { error });
      await world.held.disposeAsync(); // others may need the process while the disk is full
      await world.clock.sleep(FINISH_RETRY_MS, world.leaving).catch(() => undefined); // leaving ends the wait below
      if (world.leaving.aborted) {
        await batch.abandon();
        return null;
      }
    }
  }
}

/** The outbox sends first: a person waits for the reply, and nobody for the record of the turn and the tidying up of its process. */
function outboxHasStarted(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
