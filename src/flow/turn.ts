/**
 * Message out: take a turn → lease an agent → prompt → show what it says → end the turn and store the reply in one transaction → deliver.
 * Every turn ends visibly: with a reply, or with a notice that says what happened. A turn whose process died is tried again from a clean
 * session file; one that is interrupted by the gateway's own stop is left in the store for the next start.
 */
import type { AgentLease, AgentPool } from "../contracts/agent.ts";
import type { Budget } from "../contracts/budget.ts";
import type { ClaimedEvents } from "../contracts/automation/system-event.ts";
import type { Commands, LastStats } from "../contracts/command.ts";
import { isGatewayError } from "../contracts/errors.ts";
import type { Outbox } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { Usage } from "../contracts/chat.ts";
import type { AgentId, TurnId } from "../contracts/ids.ts";
import type { Hooks } from "../contracts/plugin-hooks.ts";
import type { Batch, Queue, StopCause, TurnEnd } from "../contracts/queue.ts";
import type { Rights } from "../contracts/channels/rights.ts";
import type { TurnDelegations, OpenDelegations } from "../contracts/tools/delegation.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { billOf, recordLost, refusedEnd } from "./billing.ts";
import { commandIn, runErrand } from "./turn-command.ts";
import { converse } from "./converse.ts";
import type { LiveTurnRecorder, LiveTurnWriter } from "./live-turns.ts";
import { type MediaLineDeps, sendMediaLines } from "./media-lines.ts";
import type { PromptSources } from "./prompt.ts";
import { hasNothingToSay, isHeartbeat, quietEnd, quietIfFailed, withoutAck } from "./own/quiet-turns.ts";
import { timeText } from "./own/provider-wait.ts";
import { reviewReply } from "./reply-review.ts";
import { recordOf } from "./turn-record.ts";
import { createSpanRecorder, type SpanRecorder } from "./spans.ts";
import { attemptWithRights, callerOf, openTurnRights } from "./turn-rights.ts";
import { logStartedOver, withStartedOver } from "./own/started-over.ts";
import {
  type AgentEnding,
  type AttemptResult,
  type EndWithoutSize,
  addUsage,
  commandEnd,
  endOf,
  expiredEnd,
  failure,
  NOTHING_USED,
  shouldRetry,
  stoppedBeforeStart,
  withLost,
  withReplyTo,
} from "./turn-ending.ts";

export interface TurnsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  readonly queue: Queue;
  readonly live: LiveTurnRecorder;
  readonly commands: Commands;
  readonly rights: Rights;
  readonly budget: Pick<Budget, "ask" | "bill" | "count" | "record">;
  readonly agents: TurnAgents;
  readonly prompt: PromptSources;
  readonly replies: ReplySteps;
}

/** Who answers, and what is known about that. */
export interface TurnAgents {
  readonly pool: AgentPool;
  readonly delegations: TurnDelegations;
  /** Told what the agent knows about its conversation after each answer. */
  readonly lastStats: LastStats;
}

/** What a reply passes on its way out, in this order. */
export interface ReplySteps {
  /** Files that the reply names are sent by the tool. */
  readonly tools: MediaLineDeps["tools"];
  readonly poster: MediaLineDeps["poster"];
  /** Plugins review it. */
  readonly hooks: Pick<Hooks, "deciding">;
  readonly outbox: Pick<Outbox, "wake">;
}

export interface TurnsOptions {
  readonly timeoutMs: number;
  /** How long running turns may go on after a stop was asked for; what is left then is recovered by the next start. */
  readonly graceMs: number;
  /** A heartbeat that finds nothing may say so much besides, and is still not shown. */
  readonly ackMaxChars?: number;
}

const FINISH_RETRY_MS = 1_000;
/** Commands look things up; a few at a time keep any crowd of them short. */
const MAX_COMMANDS_AT_ONCE = 4;
/** An answer is not held back for the sake of numbers about it. */
const STATS_MS = 500;

class TurnDeadline extends Error {}

interface TurnWorld extends TurnsDeps {
  /** Aborted when the gateway will not wait any longer. */
  readonly leaving: AbortSignal;
  /** What earlier attempts at a turn had cost, as far as their traces are gone. */
  readonly lost: Map<TurnId, Usage>;
}

/** The world as one attempt sees it. */
interface AttemptWorld extends TurnWorld {
  readonly spans: SpanRecorder;
  /** What tools have sent to the chat so far. */
  readonly said: { posts: number };
  /** Aborted when whoever the turn works for loses access. */
  readonly revoked: AbortSignal;
  /** Holds the lease, so that the answer is on its way before the process is tidied up for the next one. */
  readonly held: AsyncDisposableStack;
}

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
      const batch = await take(closing.signal).catch(() => null); // rejects only because we are closing
      if (!batch) return;
      const turn: Promise<void> = runTurn(world, batch, options(batch.agentId))
        .catch((error: unknown) => deps.log.error("turn fell apart", { turnId: batch.turnId, error }))
        .finally(() => running.delete(turn) && mine.delete(turn));
      running.add(turn);
      mine.add(turn);
    }
  };
  const dispatchers = Promise.all([
    dispatch(
      (signal) => deps.queue.take(signal),
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

async function runTurn(world: TurnWorld, batch: Batch, options: TurnsOptions): Promise<void> {
  const { clock, events } = world;
  const log = world.log.child({ turnId: batch.turnId, sessionKey: batch.sessionKey });
  const startedAt = clock.elapsed();
  const writer = world.live.open(batch);
  try {
    await using held = new AsyncDisposableStack();
    const spans = createSpanRecorder(clock, batch.acceptedAt);
    using rights = await openTurnRights(world, batch);
    const attempting = { ...world, spans, held, said: { posts: 0 }, revoked: rights.signal };
    const spent = () => world.lost.get(batch.turnId) ?? NOTHING_USED;
    const result = await attemptWithRights(rights, spent, () => attempt(attempting, rights.batch, options, writer));
    if (result.kind !== "end") await held.disposeAsync();
    if (result.kind === "leave") return await batch.abandon();
    if (result.kind === "again") return await batch.retry(result.because);
    world.lost.delete(batch.turnId);
    const bill = billOf(world.budget, batch, result.end);
    const shown = withReplyTo(batch, quietIfFailed(batch, result.end));
    const reply = await reviewReply({ clock, log, hooks: world.replies.hooks }, batch, shown.reply);
    const end = { ...shown, reply, spans: spans.close(), ...(bill ? { spent: bill } : {}) };
    if (!(await finishStubbornly(attempting, batch, { ...end, settledBytes: result.settledBytes }, log))) return;
    if (bill) world.budget.count(bill);
    const ms = Math.round(clock.elapsed() - startedAt);
    const sinceAcceptedMs = spans.sinceAcceptedMs();
    writer.close();
    events.emit("turn.measured", { turnId: batch.turnId, attempt: batch.attempt, spans: end.spans, sinceAcceptedMs });
    tellEnded(events, batch, end, ms);
    world.replies.outbox.wake();
    await replyLeft();
    events.emit("turn.recorded", recordOf(batch, end, ms));
    log.info("turn ended", {
      outcome: end.outcome,
      ms,
      attempt: batch.attempt,
      model: end.model,
      code: end.error?.code,
      detail: end.error?.detail,
    });
  } finally {
    writer.close();
  }
}

function tellEnded(
  events: Events,
  batch: Batch,
  { outcome, usage }: Pick<TurnEnd, "outcome" | "usage">,
  ms: number,
): void {
  const { sessionKey, turnId } = batch;
  events.emit("turn.ended", {
    sessionKey,
    turnId,
    outcome,
    ms,
    usage,
    inboxIds: batch.entries.map((entry) => entry.id),
  });
}

/** Lets the outbox have its go: somebody waits for the reply, and nobody for what comes after it, the usage ledger and the tidying up. */
function replyLeft(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function attempt(
  world: AttemptWorld,
  batch: Batch,
  options: TurnsOptions,
  writer: LiveTurnWriter,
): Promise<AttemptResult> {
  const unchanged = batch.sessionFile.settledBytes;
  let lost = world.lost.get(batch.turnId) ?? NOTHING_USED;
  if (batch.cancelled.aborted)
    return { kind: "end", end: withLost(stoppedBeforeStart(), lost), settledBytes: unchanged };
  if (batch.expired)
    return { kind: "end", end: expiredEnd(batch, world.clock.now() - batch.acceptedAt), settledBytes: unchanged };
  if (batch.unsafeToRetry)
    return {
      kind: "end",
      end: withLost(failure("agent_unsafe_retry", "a tool had started"), lost),
      settledBytes: unchanged,
    };

  if (batch.accused)
    return { kind: "end", end: failure("gateway_crashed", `begun ${batch.attempt} times`), settledBytes: unchanged };

  using deadline = world.clock.deadline(
    options.timeoutMs,
    () => new TurnDeadline(`no end after ${options.timeoutMs} ms`),
  );
  const signal = AbortSignal.any([batch.cancelled, deadline.signal, world.leaving, world.revoked]);
  const endsAt = world.clock.elapsed() + options.timeoutMs;
  using delegating = world.agents.delegations.open({ turnId: batch.turnId, endsAt, signal });
  try {
    const asked = commandIn(world, batch);
    if (asked && !asked.errand) {
      const text = await asked.commands.answer(asked.found, asked.context, signal);
      return { kind: "end", end: text === "" ? quietEnd() : commandEnd(text), settledBytes: unchanged };
    }
    const told = asked ? undefined : await claimEvents(world, batch);
    if (hasNothingToSay(batch, told)) return { kind: "end", end: quietEnd(), settledBytes: unchanged };
    const refused = refusedEnd(world.budget, batch);
    if (refused) return { kind: "end", end: refused, settledBytes: unchanged };
    const lease = await leaseFor(world, batch, signal);
    lost = addUsage(lost, lease.lost ?? NOTHING_USED);
    if (asked) {
      const errand = await runErrand(asked, lease, signal);
      if (world.leaving.aborted && !errand.done) return { kind: "leave" };
      const size = errand.done ? await lease.settledBytes().catch(() => unchanged) : unchanged; // as below
      return { kind: "end", end: withLost(errand.end, lost), settledBytes: size };
    }
    const ending = await converse(world, { lease, batch, writer, signal, ...(told ? { told } : {}) });
    lost = addUsage(lost, await handedOver(world, delegating));
    if (world.leaving.aborted && ending.type !== "done") return { kind: "leave" };
    if (shouldRetry(ending, batch.failures + 1)) {
      world.lost.set(batch.turnId, lost); // what this attempt has cost is found in the file when it is cut back
      return { kind: "again", because: ending.type === "failed" ? ending.detail : "" };
    }
    if (ending.type === "done") await noteStats(world, lease, batch);
    const settledBytes = await lease.settledBytes().catch(() => unchanged); // the process is gone: the next turn starts from what was settled before
    const heard = isHeartbeat(batch) ? withoutAck(ending, options.ackMaxChars) : ending;
    const said = heard === "nothing" ? quietEnd(ending) : saidEnd(world, batch, heard, signal);
    const end = withLost(said, lost);
    return { kind: "end", end: withStartedOver(await withFiles(world, batch, end), lease.startedOver), settledBytes };
  } catch (error) {
    if (world.leaving.aborted) return { kind: "leave" };
    if (batch.cancelled.aborted)
      return { kind: "end", end: withLost(stoppedBeforeStart(), lost), settledBytes: unchanged };
    return { kind: "end", end: withLost(failureFrom(error), lost), settledBytes: unchanged };
  }
}

function saidEnd(world: AttemptWorld, batch: Batch, heard: AgentEnding, signal: AbortSignal): EndWithoutSize {
  return endOf(heard, stopCauseOf(signal), world.said.posts > 0, timeText(world, batch));
}

function claimEvents({ prompt, clock }: TurnWorld, { sessionKey, turnId }: Batch): Promise<ClaimedEvents> {
  return prompt.systemEvents.claim(sessionKey, turnId, clock.now());
}

async function leaseFor(world: AttemptWorld, batch: Batch, signal: AbortSignal): Promise<AgentLease> {
  world.spans.enter("lease");
  const lease = world.held.use(await world.agents.pool.lease(leaseRequest(batch), signal));
  logStartedOver(world.log, batch, lease.startedOver);
  await recordLost(world.budget, batch, lease);
  return lease;
}

/** What other agents did for this attempt becomes part of it. */
async function handedOver({ spans }: AttemptWorld, delegating: OpenDelegations): Promise<Usage> {
  const delegated = await delegating.settle();
  spans.adopt(delegated.spans);
  return delegated.usage;
}

async function noteStats({ clock, agents, log }: TurnWorld, lease: AgentLease, batch: Batch): Promise<void> {
  const { lastStats } = agents;
  if (!lastStats.stale(batch.sessionFile.name, clock.elapsed()) || !lease.stats) return;
  using limit = clock.deadline(STATS_MS, () => new Error("the agent did not say in time"));
  try {
    lastStats.note(batch.sessionFile.name, await lease.stats(limit.signal), clock.elapsed());
  } catch (error) {
    log.debug("session stats not known", { turnId: batch.turnId, error }); // the answer is what matters
  }
}

function leaseRequest(batch: Batch): Parameters<AgentPool["lease"]>[0] {
  const { sessionFile, priority } = batch;
  const { model, thinking } = batch.settings ?? { model: null, thinking: null };
  const own = { ...(model === null ? {} : { model }), ...(thinking === null ? {} : { thinking }) };
  return {
    caller: callerOf(batch),
    sessionFile: sessionFile.name,
    settledBytes: sessionFile.settledBytes,
    priority,
    ...own,
  };
}

/** Before the reply is stored. A turn that has to leave meanwhile says what it has. */
async function withFiles(world: TurnWorld, batch: Batch, end: EndWithoutSize): Promise<EndWithoutSize> {
  if (end.outcome !== "done") return end;
  const { tools, poster } = world.replies;
  const reply = await sendMediaLines({ log: world.log, tools, poster }, end.reply, callerOf(batch), world.leaving);
  return { ...end, reply };
}

function stopCauseOf(signal: AbortSignal): StopCause | "deadline" {
  if (signal.reason instanceof TurnDeadline) return "deadline";
  return signal.reason === ("interrupted" satisfies StopCause) ? "interrupted" : "stopped";
}

function failureFrom(error: unknown): EndWithoutSize {
  if (error instanceof TurnDeadline) return failure("agent_timeout", error.message);
  if (isGatewayError(error)) return failure(error.code, error.message, { say: error.say });
  return failure("internal", error instanceof Error ? error.message : String(error));
}

/** The reply exists and must not be lost to a full disk: it is offered to the store until the store takes it, or until the gateway leaves. */
async function finishStubbornly(world: AttemptWorld, batch: Batch, end: TurnEnd, log: Log): Promise<boolean> {
  for (;;) {
    try {
      const written = await batch.finish(end);
      if (!written) log.warn("turn was taken over; its reply is dropped", { attempt: batch.attempt });
      return written;
    } catch (error) {
      log.error("turn could not be stored yet", { error });
      await world.held.disposeAsync(); // others may need the process while the disk is full
      await world.clock.sleep(FINISH_RETRY_MS, world.leaving).catch(() => undefined); // leaving ends the wait below
      if (world.leaving.aborted) {
        await batch.abandon();
        return false;
      }
    }
  }
}
