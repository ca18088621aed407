/**
 * Running turns as people see them, so that a console that opens in the middle of a turn shows the same as one that watched from the start.
 * All text of a running turn passes here, and leaves without the secrets the gateway knows.
 */
import type { ToolStatus } from "../contracts/chat.ts";
import type { Events, GatewayEvents } from "../contracts/events.ts";
import type { LiveTool, LiveTurn, LiveTurns, LiveWait } from "../contracts/flow.ts";
import type { InboxId, SessionKey } from "../contracts/ids.ts";
import type { Batch, Queue } from "../contracts/queue.ts";
import type { Clock } from "../kit/clock.ts";
import { lastPlainLine } from "../kit/marks/plain-line.ts";
import { maskTexts, NO_MASK, type SecretMask } from "../kit/secret.ts";

export interface LiveTurnRecorder extends LiveTurns {
  /** Shows the turn as started; also used to say that what was shown so far is void. */
  open(batch: Batch): LiveTurnWriter;
  /** Those of this gateway. */
  all(): readonly (LiveTurn & { readonly sessionKey: SessionKey })[];
}

export interface LiveTurnWriter {
  /** Shown at once, but for what could be the beginning of a secret: that waits for what follows. */
  text(delta: string): void;
  /** What the model thinks; not part of its answer. */
  thought(delta: string): void;
  /** The turn says no more: shows what was held back. */
  textEnded(): void;
  /** These have become part of the turn while it ran. */
  joined(ids: readonly InboxId[]): void;
  toolStarted(call: { readonly callId: string; readonly tool: string; readonly input: unknown }): void;
  /** Text of a tool that still runs: people see its newest line, at a pace. */
  toolUpdated(call: { readonly callId: string; readonly text: string }): void;
  toolEnded(call: { readonly callId: string; readonly isError: boolean; readonly output: string }): void;
  /** The turn waits for something outside. Said until it says or does something again. */
  waiting(what: LiveWait): void;
  close(): void;
}

/** Of one turn. What a model thinks beyond that is not kept. */
export const MAX_REASONING_CHARS = 50_000;
export const PROGRESS_EVERY_MS = 250;
export const MAX_PROGRESS_CHARS = 200;
/** A shorter beginning of a secret gives nothing away; holding it back would cut the last letters off ordinary words. */
const MIN_HELD_CHARS = 4;

interface Shown {
  readonly turnId: LiveTurn["turnId"];
  inboxIds: LiveTurn["inboxIds"];
  readonly startedAt: number;
  text: string;
  reasoning: string;
  waitsFor: LiveWait | null;
  readonly tools: Map<string, LiveTool & { readonly begunAt: number }>;
  /** Rejected before the agent's word that it begins them had come this far. */
  readonly refused: Map<string, "blocked" | "error">;
  /** Calls that wait for an owner, and since when: that time is not the tool's. */
  readonly waiting: Map<string, number>;
  /** Newest text of running calls that people have not seen yet; null: shown a moment ago, nothing new since. */
  readonly progress: Map<string, string | null>;
  readonly over: AbortController;
}

export function createLiveTurns(deps: {
  readonly clock: Clock;
  readonly events: Events;
  readonly queue: Pick<Queue, "abort">;
  /** Without it nothing is known to be secret. */
  readonly mask?: SecretMask;
  /** Running turns of other gateways. Without it there are none. */
  elsewhere?(sessionKey: SessionKey): LiveTurn | null;
}): LiveTurnRecorder {
  const { clock, events, mask = NO_MASK } = deps;
  const shown = new Map<SessionKey, Shown>();
  followGate({ clock, events, mask }, (call) => {
    const turn = shown.get(call.sessionKey);
    return turn?.turnId === call.turnId ? turn : null;
  });

  return {
    snapshot(sessionKey) {
      const turn = shown.get(sessionKey);
      return turn ? snapshotOf(turn) : (deps.elsewhere?.(sessionKey) ?? null);
    },
    all: () => [...shown].map(([sessionKey, turn]) => ({ sessionKey, ...snapshotOf(turn) })),

    abort: (sessionKey) => deps.queue.abort(sessionKey),

    open(batch) {
      const { sessionKey, turnId, attempt } = batch;
      const turn = newTurn(batch, clock);
      const { inboxIds } = turn;
      shown.get(sessionKey)?.over.abort(new Error("another attempt began"));
      shown.set(sessionKey, turn);
      events.emit("turn.started", { sessionKey, turnId, inboxIds, attempt, waitedMs: clock.now() - batch.acceptedAt });
      const close = (): void => {
        turn.over.abort(new Error("the turn is over"));
        if (shown.get(sessionKey) === turn) shown.delete(sessionKey);
      };
      return { ...writerFor({ clock, events, mask }, sessionKey, turn), close };
    },
  };
}

function snapshotOf({ turnId, inboxIds, startedAt, text, reasoning, waitsFor, tools: calls }: Shown): LiveTurn {
  const tools = [...calls.values()].map(({ begunAt: _begunAt, ...tool }) => tool);
  const thought = reasoning === "" ? {} : { reasoning };
  return { turnId, inboxIds, startedAt, text, tools, ...thought, ...(waitsFor ? { waiting: waitsFor } : {}) };
}

interface WriterDeps {
  readonly clock: Clock;
  readonly events: Events;
  readonly mask: SecretMask;
}

function writerFor(
  { clock, events, mask }: WriterDeps,
  sessionKey: SessionKey,
  turn: Shown,
): Omit<LiveTurnWriter, "close"> {
  const { turnId } = turn;
  const masked = mask.stream();
  const thoughts = mask.stream();
  const updated = followProgress({ clock, events, mask }, sessionKey, turn);
  const show = (text: string): void => {
    if (text === "") return;
    turn.text += text;
    turn.waitsFor = null;
    events.emit("turn.delta", { sessionKey, turnId, text });
  };
  return {
    text: (delta) => show(masked.push(delta)),
    thought(delta) {
      const text = thoughts.push(delta).slice(0, MAX_REASONING_CHARS - turn.reasoning.length);
      if (text === "") return;
      turn.reasoning += text;
      turn.waitsFor = null;
      events.emit("turn.thought", { sessionKey, turnId, text });
    },
    textEnded: () => show(masked.flush()),
    joined(ids) {
      turn.inboxIds = [...turn.inboxIds, ...ids];
      events.emit("turn.joined", { sessionKey, turnId, inboxIds: ids });
    },
    toolStarted(call) {
      const { callId, tool, input } = maskedCall(call, mask);
      const status = begin(turn, { callId, tool, input }, clock.elapsed());
      turn.waitsFor = null;
      events.emit("turn.tool", { sessionKey, turnId, callId, tool, input, status });
    },
    waiting({ until, text: said }) {
      const text = mask.text(said);
      turn.waitsFor = { until, text };
      events.emit("turn.waiting", { sessionKey, turnId, until, text });
    },
    toolUpdated({ callId: id, text }) {
      const callId = mask.text(id);
      if (turn.tools.has(callId)) updated(callId, text);
    },
    toolEnded({ callId: id, isError, output }) {
      const callId = mask.text(id);
      const begun = turn.tools.get(callId);
      if (!begun) return; // an end without a start: the agent's business, nothing to show
      const { progress: _progress, ...call } = begun;
      const ended = {
        ...call,
        status: turn.refused.get(callId) ?? endOf(begun, isError),
        output: mask.text(output),
        ms: Math.round((turn.waiting.get(callId) ?? clock.elapsed()) - begun.begunAt),
      };
      turn.tools.set(callId, ended);
      const { begunAt: _begunAt, input: _input, ...visible } = ended;
      events.emit("turn.tool", { sessionKey, turnId, ...visible });
    },
  };
}

function newTurn({ turnId, entries }: Batch, clock: Clock): Shown {
  return {
    turnId,
    inboxIds: entries.map((entry) => entry.id),
    startedAt: clock.now(),
    text: "",
    reasoning: "",
    waitsFor: null,
    tools: new Map(),
    refused: new Map(),
    waiting: new Map(),
    progress: new Map(),
    over: new AbortController(),
  };
}

/** The question for an owner may have come before the agent's word that it begins the call. */
function begin(turn: Shown, call: Pick<LiveTool, "callId" | "tool" | "input">, begunAt: number): ToolStatus {
  const { callId } = call;
  const status = turn.waiting.has(callId) ? "pending" : "running";
  if (status === "pending") turn.waiting.set(callId, begunAt);
  turn.tools.set(callId, { ...call, status, begunAt });
  return status;
}

/** Model and provider name calls and tools as they like: a tool that does not exist can be called anything. */
function maskedCall(call: Parameters<LiveTurnWriter["toolStarted"]>[0], mask: SecretMask) {
  return { callId: mask.text(call.callId), tool: mask.text(call.tool), input: maskTexts(call.input, mask) };
}

/** Shows the first report of a call at once, then the newest of each interval; none once the call has ended. */
function followProgress(
  { clock, events, mask }: WriterDeps,
  sessionKey: SessionKey,
  { turnId, tools, progress: waiting, over }: Shown,
): (callId: string, text: string) => void {
  const show = (callId: string, text: string): void => {
    const call = tools.get(callId);
    const progress = newestLine(text, mask);
    if (call?.status !== "running" || progress === "" || progress === call.progress) return;
    tools.set(callId, { ...call, progress });
    events.emit("turn.tool", { sessionKey, turnId, callId, tool: call.tool, status: "running", progress });
  };
  const pace = async (callId: string, first: string): Promise<void> => {
    for (let text: string | null = first; text !== null; text = waiting.get(callId) ?? null) {
      waiting.set(callId, null);
      show(callId, text);
      await clock.sleep(PROGRESS_EVERY_MS, over.signal);
    }
    waiting.delete(callId);
  };
  return (callId, text) => {
    if (over.signal.aborted) return;
    if (waiting.has(callId)) waiting.set(callId, text);
    else void pace(callId, text).catch(() => undefined); // the turn is over: nobody waits for its progress
  };
}

/** Masked before it is cut, and once more when nothing is left in it that could part a secret. */
function newestLine(text: string, mask: SecretMask): string {
  const line = lastPlainLine(withoutSecrets(text, mask));
  return withoutSecrets(line, mask).slice(0, MAX_PROGRESS_CHARS).toWellFormed().trim();
}

/** Also without an end that may be the first half of a secret. */
function withoutSecrets(text: string, mask: SecretMask): string {
  const stream = mask.stream();
  const sure = stream.push(text);
  const held = stream.flush();
  return held.length < MIN_HELD_CHARS ? sure + held : sure;
}

type Call = Pick<GatewayEvents["tool_refused"], "sessionKey" | "turnId" | "callId">;

/** An agent says that it begins a call and what it read in the end; what the call waits for, and that it never ran, only the gate knows. */
function followGate({ clock, events, mask }: WriterDeps, turnOf: (call: Call) => Shown | null): void {
  const show = (call: Call, status: ToolStatus): void => {
    const { sessionKey, turnId } = call;
    const callId = mask.text(call.callId);
    const turn = turnOf(call);
    const known = turn?.tools.get(callId);
    const since = turn?.waiting.get(callId);
    if (status === "pending") turn?.waiting.set(callId, clock.elapsed());
    else turn?.waiting.delete(callId);
    if (turn && !known && (status === "blocked" || status === "error")) turn.refused.set(callId, status);
    if (!turn || !known || known.output !== undefined || known.status === status) return;
    const waitedMs = since === undefined ? 0 : clock.elapsed() - since;
    turn.tools.set(callId, { ...known, status, begunAt: known.begunAt + waitedMs });
    events.emit("turn.tool", { sessionKey, turnId, callId, tool: known.tool, status });
  };
  events.on("approval", (news) => {
    if (news.decision === null) show(news, "pending");
    else if (news.decision !== "deny" && news.decision !== "expired") show(news, "running");
  });
  events.on("tool_refused", (call) => show(call, call.status));
}

function endOf({ status }: LiveTool, isError: boolean): ToolStatus {
  if (status === "blocked" || status === "error") return status;
  return isError ? "error" : "success";
}
