/** What follows the end of a connection: go on with the session, or begin a new one, and after which pause. Pure. */
export interface LinkState {
  /** There is a session that could be resumed. */
  readonly session: boolean;
  /** How often in a row resuming it has failed. */
  readonly failedResumes: number;
  /** How often in a row a connection ended before it was of use. */
  readonly failures: number;
}

export type LinkEnd =
  /** `wasUp`: it had been of use before. */
  | { readonly kind: "closed"; readonly code: number; readonly wasUp: boolean; readonly resuming: boolean }
  /** Nothing was heard any more, or nothing at all. */
  | { readonly kind: "silent"; readonly wasUp: boolean; readonly resuming: boolean }
  /** It did not come to a connection. `waitMs`: and it must not before. */
  | { readonly kind: "failed"; readonly detail: string; readonly waitMs?: number };

interface LinkNext extends LinkState {
  readonly pauseMs: number;
  /** What an operator has to do, when waiting will not help. */
  readonly trouble: string | null;
}

export const FRESH: LinkState = { session: false, failedResumes: 0, failures: 0 };
/** After so many failed resumes a session is given up; or it would be tried for ever. */
export const MAX_FAILED_RESUMES = 3;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** What an operator can put right is looked at again after this. */
export const HOPELESS_PAUSE_MS = 300_000;
/** Discord counts sign-ins by the day. */
const MAX_WAIT_MS = 86_400_000;
const JITTER_SHARE = 0.3;
const MAX_DOUBLINGS = 10;

/** Codes that end a session: Discord does not know it, or does not want it. 1000 and 1001 end it too, whoever said so. */
const ENDS_SESSION: ReadonlySet<number> = new Set([1000, 1001, 4003, 4005, 4007, 4009]);

const HOPELESS: Readonly<Record<number, string>> = {
  4004: "Discord refused the bot token. Put the right one into channels.discord.token.",
  4010: "Discord refused the connection (invalid shard).",
  4011: "This bot is in too many servers for one connection.",
  4012: "Discord does not speak this version of its API any more. Update pi-gateway.",
  4013: "Discord refused the connection (invalid intents).",
  4014: "The bot may not read messages. Switch on the Message Content Intent for it in Discord's developer portal.",
};

/** `chance` is between 0 and 1. */
export function afterLink(state: LinkState, end: LinkEnd, chance: number): LinkNext {
  const trouble = end.kind === "closed" ? (HOPELESS[end.code] ?? null) : null;
  if (trouble !== null)
    return { session: false, failedResumes: 0, failures: state.failures + 1, pauseMs: HOPELESS_PAUSE_MS, trouble };
  const wasUp = end.kind !== "failed" && end.wasUp;
  const failures = wasUp ? 0 : state.failures + 1;
  const pauseMs = pauseOf(failures, chance);
  if (end.kind === "failed")
    return { ...state, failures, pauseMs: Math.max(pauseMs, Math.min(end.waitMs ?? 0, MAX_WAIT_MS)), trouble: null };
  const failedResumes = end.resuming && !wasUp ? state.failedResumes + 1 : 0;
  const over = (end.kind === "closed" && ENDS_SESSION.has(end.code)) || failedResumes >= MAX_FAILED_RESUMES;
  const session = over ? false : wasUp || state.session;
  return { session, failedResumes: session ? failedResumes : 0, failures, pauseMs, trouble: null };
}

/** The first time almost at once, then longer and longer; never at the same moment as everybody else. */
function pauseOf(failures: number, chance: number): number {
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, MAX_DOUBLINGS), MAX_PAUSE_MS);
  return Math.round(pauseMs * (1 - JITTER_SHARE * chance));
}
