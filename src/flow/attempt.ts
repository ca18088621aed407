/**
 * One try at a turn: lease an agent → prompt → show what it says → decide how the turn ends. A turn whose process died is tried again from a
 * clean session file; one that is interrupted by the gateway's own stop is left in the store for the next start. Stores nothing itself.
 */
import type { AgentLease, AgentPool } from "../contracts/agent.ts";
import type { Batch, StopCause } from "../contracts/queue.ts";
import type { OpenDelegations } from "../contracts/tools/delegation.ts";
import { recordLost, refusedEnd } from "./billing.ts";
import { converse } from "./converse.ts";
import type { LiveTurnWriter } from "./live-turns.ts";
import { sendMediaLines } from "./ending/media-lines.ts";
import { timeText } from "./ending/provider-wait.ts";
import { endOfError } from "./ending/thrown-error.ts";
import { hasNothingToSay, isHeartbeat, quietEnd, withoutAck } from "./ending/quiet-turns.ts";
import { NO_EVENTS } from "./prompt/prompt.ts";
import { logStartedOver, withStartedOver } from "./prompt/started-over.ts";
import { type AskedCommand, commandIn, runErrand } from "./turn-command.ts";
import {
  type AttemptResult,
  type EndWithoutSize,
  addUsage,
  commandEnd,
  endOf,
  expiredEnd,
  failure,
  shouldRetry,
  stoppedBeforeStart,
  withLost,
} from "./ending/turn-ending.ts";
import { callerOf } from "./turn-rights.ts";
import type { AttemptWorld, TurnsOptions, TurnWorld } from "./turn-world.ts";

/** Limit of the stats query after a turn. The process stays with the turn meanwhile; the reply does not wait for it. */
const STATS_MS = 500;
/** What the wait for a process was about, in the turn's waterfall. */
const SESSION_WAS_OPEN = "session was open";
const SESSION_OPENED = "session opened";

class TurnDeadline extends Error {}

/** How the turn ends, or that it is tried again, or left for the next start. */
export async function attempt(
  world: AttemptWorld,
  batch: Batch,
  options: TurnsOptions,
  writer: LiveTurnWriter,
): Promise<AttemptResult> {
  const unbegun = endBeforeStart(world, batch);
  if (unbegun) return endUnchanged(batch, unbegun);

  using deadline = world.clock.deadline(
    options.timeoutMs,
    () => new TurnDeadline(`no end after ${options.timeoutMs} ms`),
  );
  const signal = AbortSignal.any([batch.cancelled, deadline.signal, world.leaving, world.revoked]);
  const endsAt = world.clock.elapsed() + options.timeoutMs;
  using delegating = world.agents.delegations.open({ turnId: batch.turnId, endsAt, signal });
  try {
    const command = commandIn(world, batch);
    if (!command) return await answerMessage(world, { batch, options, writer, delegating }, signal);
    return command.errand
      ? await answerErrand(world, batch, command, signal)
      : await answerCommand(batch, command, signal);
  } catch (error) {
    if (world.leaving.aborted) return { kind: "leave" };
    const end = batch.cancelled.aborted ? stoppedBeforeStart() : failureFrom(error);
    return endUnchanged(batch, withLost(end, world.cost.besides));
  }
}

/** Null: it may begin. */
function endBeforeStart({ clock, cost }: AttemptWorld, batch: Batch): EndWithoutSize | null {
  if (batch.cancelled.aborted) return withLost(stoppedBeforeStart(), cost.besides);
  if (batch.expired) return expiredEnd(batch, clock.now() - batch.acceptedAt);
  if (batch.unsafeToRetry) return withLost(failure("agent_unsafe_retry", "a tool had started"), cost.besides);
  if (batch.accused) return failure("gateway_crashed", `begun ${batch.attempt} times`);
  return null;
}

/** Of an attempt that left the session file as it was. */
function endUnchanged({ sessionFile: { settledBytes } }: Batch, end: EndWithoutSize): AttemptResult {
  return { kind: "end", end, settledBytes };
}

/** No agent is leased. */
async function answerCommand(batch: Batch, command: AskedCommand, signal: AbortSignal): Promise<AttemptResult> {
  const text = await command.commands.answer(command.found, command.context, signal);
  return endUnchanged(batch, text === "" ? quietEnd() : commandEnd(text));
}

/** A command that needs the agent. */
async function answerErrand(
  world: AttemptWorld,
  batch: Batch,
  command: AskedCommand,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const refused = refusedEnd(world.budget, batch);
  if (refused) return endUnchanged(batch, refused);
  const lease = await leaseAgent(world, batch, signal);
  const errand = await runErrand(command, lease, signal);
  if (world.leaving.aborted && !errand.done) return { kind: "leave" };
  const end = withLost(errand.end, world.cost.besides);
  if (!errand.done) return endUnchanged(batch, end);
  return { kind: "end", end, ...(await settledFileOf(lease, batch)) };
}

interface AnsweredTurn {
  readonly batch: Batch;
  readonly options: TurnsOptions;
  readonly writer: LiveTurnWriter;
  readonly delegating: OpenDelegations;
}

async function answerMessage(
  world: AttemptWorld,
  { batch, options, writer, delegating }: AnsweredTurn,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { sessionKey, turnId, hasNews } = batch;
  const told = hasNews ? await world.prompt.systemEvents.claim(sessionKey, turnId, world.clock.now()) : NO_EVENTS;
  if (hasNothingToSay(batch, told)) return endUnchanged(batch, quietEnd());
  const refused = refusedEnd(world.budget, batch);
  if (refused) return endUnchanged(batch, refused);
  const lease = await leaseAgent(world, batch, signal);
  const ending = await converse(world, { lease, batch, writer, signal, told });
  await adoptDelegated(world, delegating);
  if (world.leaving.aborted && ending.type !== "done") return { kind: "leave" };
  if (shouldRetry(ending, batch.failures + 1)) {
    world.lost.set(batch.turnId, world.cost.besides); // what this attempt has cost is found in the file when it is cut back
    return { kind: "again", because: ending.type === "failed" ? ending.detail : "" };
  }
  if (ending.type === "done") queryStats(world, lease, batch);
  const settled = await settledFileOf(lease, batch);
  const heard = isHeartbeat(batch) ? withoutAck(ending, options.ackMaxChars) : ending;
  const said =
    heard === "nothing"
      ? quietEnd(ending)
      : endOf(heard, stopCauseOf(signal), world.said.posts > 0, timeText(world, batch));
  const { thoughts: reasoning } = world.said;
  const end = await withFiles(world, batch, withLost(said, world.cost.besides));
  const whole = withStartedOver(end, lease.startedOver);
  return { kind: "end", end: reasoning === "" ? whole : { ...whole, reasoning }, ...settled };
}

async function leaseAgent(world: AttemptWorld, batch: Batch, signal: AbortSignal): Promise<AgentLease> {
  world.spans.enter("lease");
  const lease = world.held.use(await world.agents.pool.lease(leaseRequest(batch), signal));
  if (lease.wasOpen !== undefined) world.spans.note(lease.wasOpen ? SESSION_WAS_OPEN : SESSION_OPENED);
  logStartedOver(world.log, batch, lease.startedOver);
  await recordLost(world.budget, batch, lease);
  world.cost.besides = addUsage(world.cost.besides, lease.lost);
  return lease;
}

function leaseRequest(batch: Batch): Parameters<AgentPool["lease"]>[0] {
  const { sessionFile, priority, settings } = batch;
  return {
    caller: callerOf(batch),
    sessionFile: sessionFile.name,
    settledBytes: sessionFile.settledBytes,
    priority,
    ...(settings?.model ? { model: settings.model } : {}),
    ...(settings?.thinking ? { thinking: settings.thinking } : {}),
  };
}

/** Cost and spans of other agents that worked for this attempt become part of it. */
async function adoptDelegated({ spans, cost }: AttemptWorld, delegating: OpenDelegations): Promise<void> {
  const delegated = await delegating.settle();
  spans.adopt(delegated.spans);
  cost.besides = addUsage(cost.besides, delegated.usage);
}

/** Asks while the reply is stored and delivered; the answer comes before the process is given back. */
function queryStats(world: AttemptWorld, lease: AgentLease, batch: Batch): void {
  const { lastStats } = world.agents;
  const { name } = batch.sessionFile;
  if (!lastStats.stale(name, world.clock.elapsed())) return;
  const answer = noteStats(world, lease, batch);
  lastStats.expect(name, answer);
  world.held.defer(() => answer);
}

/** Never rejects. */
async function noteStats({ clock, agents, log }: TurnWorld, lease: AgentLease, batch: Batch): Promise<void> {
  const { lastStats } = agents;
  using limit = clock.deadline(STATS_MS, () => new Error("the agent did not say in time"));
  try {
    lastStats.note(batch.sessionFile.name, await lease.stats(limit.signal), clock.elapsed());
  } catch (error) {
    log.debug("session stats not known", { turnId: batch.turnId, error }); // the answer is what matters
  }
}

type SettledFile = Pick<Extract<AttemptResult, { kind: "end" }>, "settledBytes" | "fileChange">;

/** When the process is gone, the next turn starts from what was settled before. */
async function settledFileOf(lease: AgentLease, { sessionFile }: Batch): Promise<SettledFile> {
  try {
    const settledBytes = await lease.settledBytes();
    const fileChange = await lease.fileChange?.(settledBytes);
    return { settledBytes, ...(fileChange ? { fileChange } : {}) };
  } catch {
    return { settledBytes: sessionFile.settledBytes };
  }
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
  return endOfError(error);
}
