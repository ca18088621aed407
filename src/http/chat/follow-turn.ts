/** Watches one session until the turn of one message has ended. Subscribes before the message is handed in, so that nothing is missed. */
import type { QuestionNews } from "../../contracts/channels/question.ts";
import type { Events, GatewayEvents } from "../../contracts/events.ts";
import type { LiveTool, LiveTurns } from "../../contracts/flow.ts";
import type { TurnProgress } from "../../contracts/http-api.ts";
import type { InboxId, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { TurnResult, TurnStore } from "../../contracts/store/turns.ts";
import type { Clock } from "../../kit/clock.ts";
import { type Deferred, deferred, orAborted } from "../../kit/deferred.ts";

export interface TurnFollower extends Disposable {
  /** From now on, progress of the turn that answers this message goes to `show`; what has been said already comes first. */
  follow(inboxId: InboxId, show: (progress: TurnProgress) => void): void;
  /** Rejects with `signal.reason`; the turn itself goes on. */
  result(inboxId: InboxId, signal: AbortSignal): Promise<TurnResult>;
}

type Seen =
  | { readonly event: "turn.started"; readonly data: GatewayEvents["turn.started" | "turn.joined"] }
  | { readonly event: "turn.delta"; readonly data: GatewayEvents["turn.delta"] }
  | { readonly event: "turn.tool"; readonly data: GatewayEvents["turn.tool"] }
  | { readonly event: "turn.waiting"; readonly data: GatewayEvents["turn.waiting"] }
  | { readonly event: "question"; readonly data: QuestionNews };

/** Kept only while the receipt is awaited. Past this, progress is lost but never the result. */
const MAX_EARLY_EVENTS = 10_000;

export function followTurn(
  deps: { clock: Clock; events: Events; live: LiveTurns; turns: TurnStore },
  sessionKey: SessionKey,
): TurnFollower {
  const early: Seen[] = [];
  let ended: Deferred<void> = deferred();
  let turnId: TurnId | null = null;
  let following: { inboxId: InboxId; show: (progress: TurnProgress) => void } | null = null;

  const see = (seen: Seen): void => {
    if (seen.data.sessionKey !== sessionKey) return;
    if (following === null) {
      if (early.length < MAX_EARLY_EVENTS) early.push(seen);
      return;
    }
    if (seen.event === "turn.started") {
      if (seen.data.inboxIds.includes(following.inboxId)) turnId = seen.data.turnId;
      return;
    }
    if (seen.data.turnId === turnId) following.show(progressOf(seen));
  };

  const subscriptions = [
    deps.events.on("turn.started", (data) => see({ event: "turn.started", data })),
    deps.events.on("turn.joined", (data) => see({ event: "turn.started", data })), // from here on it is the same
    deps.events.on("turn.delta", (data) => see({ event: "turn.delta", data })),
    deps.events.on("turn.tool", (data) => see({ event: "turn.tool", data })),
    deps.events.on("turn.waiting", (data) => see({ event: "turn.waiting", data })),
    deps.events.on("question", (data) => see({ event: "question", data })),
    deps.events.on("turn.ended", (data) => {
      if (data.sessionKey !== sessionKey) return;
      const before = ended;
      ended = deferred();
      before.resolve();
    }),
  ];

  return {
    follow(inboxId, show) {
      following = { inboxId, show };
      const beganEarly = early.some((seen) => seen.event === "turn.started" && seen.data.inboxIds.includes(inboxId));
      const running = deps.live.snapshot(sessionKey);
      if (beganEarly) early.forEach(see);
      else if (running?.inboxIds.includes(inboxId)) {
        turnId = running.turnId;
        if (running.text !== "") show({ event: "delta", data: { text: running.text } });
        for (const tool of running.tools) show({ event: "tool", data: toolData(tool) });
        if (running.waiting) show({ event: "waiting", data: running.waiting });
      }
      early.length = 0;
    },
    async result(inboxId, signal) {
      for (;;) {
        const next = ended.promise; // taken before the read: a turn that ends during the read is noticed
        const result = await deps.turns.resultOf(inboxId);
        if (result) return result;
        await endedOrLate(deps.clock, next, signal);
      }
    },
    [Symbol.dispose]() {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
    },
  };
}

/** The end of a turn of another gateway may never be heard of, so it is looked for now and then. */
async function endedOrLate(clock: Clock, ended: Promise<void>, signal: AbortSignal): Promise<void> {
  using late = clock.deadline(LOOK_AGAIN_MS, () => LATE);
  try {
    await orAborted(ended, AbortSignal.any([signal, late.signal]));
  } catch (error) {
    if (error !== LATE) throw error;
  }
}

const LATE = new Error("looked for again");
const LOOK_AGAIN_MS = 10_000;

function progressOf(seen: Exclude<Seen, { event: "turn.started" }>): TurnProgress {
  if (seen.event === "turn.delta") return { event: "delta", data: { text: seen.data.text } };
  if (seen.event === "turn.waiting")
    return { event: "waiting", data: { until: seen.data.until, text: seen.data.text } };
  if (seen.event === "question") {
    const { id, question, expiresAt, end } = seen.data;
    return { event: "question", data: { id, question, expiresAt, end } };
  }
  return { event: "tool", data: toolData(seen.data) };
}

function toolData({ callId, tool, status, progress, ms }: LiveTool) {
  return {
    callId,
    tool,
    status,
    ...(progress === undefined ? {} : { progress }),
    ...(ms === undefined ? {} : { ms }),
  };
}
