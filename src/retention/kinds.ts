/** What grows with time, and the setting that says how long each is kept. */
import type { Events } from "../contracts/events.ts";
import type { Store } from "../contracts/store.ts";
import type { DroppedRows, RowPlace } from "../contracts/store/retention.ts";
import type { Clock } from "../kit/clock.ts";
import type { Kind } from "./retention.ts";

interface KindDeps {
  readonly clock: Clock;
  readonly events: Events;
  readonly store: Pick<
    Store,
    "retention" | "audit" | "toolCalls" | "approvals" | "approvalRules" | "sessionTools" | "usage"
  >;
}

/** Days; 0 is for ever. */
export interface RetentionSettings {
  readonly messagesDays: number;
  readonly sessionsDays: number;
  readonly mediaDays: number;
  readonly usageDays: number;
  /** `tools.keepDays`. */
  readonly toolCallsDays: number;
}

/** Budgets add up the current month and compare it with the last. */
export const MIN_USAGE_DAYS = 62;

/** Messages come before sessions, so that a session that goes has little left in it. */
export function retentionKinds(deps: KindDeps, settings: () => RetentionSettings): readonly Kind[] {
  const { retention } = deps.store;
  return [
    { name: "messages", keepDays: () => settings().messagesDays, drop: retention.dropTurns },
    { name: "sessions", keepDays: () => settings().sessionsDays, drop: (rule) => dropSessions(deps, rule) },
    { name: "conversations", keepDays: () => settings().sessionsDays, drop: retention.dropConversations },
    { name: "media", keepDays: () => settings().mediaDays, drop: retention.dropMedia },
    { name: "usage", keepDays: () => usageDays(settings()), drop: ({ before }) => dropUsage(deps, before) },
    { name: "tool calls", keepDays: () => settings().toolCallsDays, drop: ({ before }) => dropCalls(deps, before) },
  ];
}

function usageDays({ usageDays: days }: RetentionSettings): number {
  return days === 0 ? 0 : Math.max(days, MIN_USAGE_DAYS);
}

async function dropSessions(
  { clock, events, store }: KindDeps,
  rule: Parameters<Kind["drop"]>[0],
): Promise<DroppedRows> {
  const { sessions, ...step } = await store.retention.dropSessions(rule);
  for (const sessionKey of sessions) {
    const detail = { because: "retention.sessionsDays" };
    await store.audit.note({ kind: "session.deleted", at: clock.now(), actor: "gateway", subject: sessionKey, detail });
    events.emit("session.deleted", { sessionKey });
  }
  if (sessions.length > 0) events.emit("status", { what: "sessions" });
  return step;
}

/** Each step begins where the oldest rows are: those before are gone. */
const AGAIN: RowPlace = { at: 0, id: "" };

const untilNone = (dropped: number): DroppedRows => ({ dropped, next: dropped === 0 ? null : AGAIN });

async function dropUsage({ store }: KindDeps, before: number): Promise<DroppedRows> {
  return untilNone(await store.usage.prune(new Date(before).toISOString().slice(0, 10)));
}

/** Approvals, rules that have ended and the tools of a session are kept as long as the calls that they belong to. */
async function dropCalls({ store }: KindDeps, before: number): Promise<DroppedRows> {
  const { toolCalls, approvals, approvalRules, sessionTools } = store;
  let dropped = 0;
  for (const rows of [toolCalls, approvals, approvalRules, sessionTools]) dropped += await rows.prune(before);
  return untilNone(dropped);
}
