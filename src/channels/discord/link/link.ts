/**
 * Keeps a connection to Discord's gateway: resumes it, begins a new session when that fails too often, waits longer and longer while nothing
 * works, and says truthfully how it is. Its health is the last heartbeat that was answered, not that a socket is open.
 */
import type { API } from "@discordjs/core";
import type { SessionInfo } from "@discordjs/ws";
import type { APIGatewayBotInfo, GatewayDispatchPayload, GatewayReadyDispatchData } from "discord-api-types/v10";
import { chanceOf } from "../../../kit/chance.ts";
import type { Clock } from "../../../kit/clock.ts";
import { orAborted } from "../../../kit/deferred.ts";
import type { Ids } from "../../../kit/ids.ts";
import type { Log } from "../../../kit/log.ts";
import type { Secret } from "../../../kit/secret.ts";
import { failureOf } from "../outbound/failure.ts";
import { type Attempt, openAttempt } from "./attempt.ts";
import { afterLink, FRESH, type LinkEnd, type LinkState } from "./rules.ts";

interface LinkDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly api: API;
  /** Before each connection; a token that was refused may be right by now. */
  renew(): void;
  onReady(data: GatewayReadyDispatchData): void;
  onDispatch(payload: GatewayDispatchPayload): void;
}

interface LinkOptions {
  readonly token: Secret;
  readonly intents: number;
}

interface Link extends AsyncDisposable {
  health(): { readonly ok: boolean; readonly detail: string };
}

/** Longer than Discord's usual time between heartbeats (41 s), twice; one may be lost. */
const SILENT_MS = 100_000;
const WATCH_MS = 5_000;
const INFO_MS = 15_000;

interface LinkNow {
  up: boolean;
  beatAt: number;
  detail: string;
}

export function startLink(deps: LinkDeps, options: LinkOptions): Link {
  const stopping = new AbortController();
  const now: LinkNow = { up: false, beatAt: deps.clock.elapsed(), detail: "connecting to Discord" };
  const keeping = keep(deps, options, now, stopping.signal);
  return {
    health() {
      const quietMs = Math.round(deps.clock.elapsed() - now.beatAt);
      if (!now.up) return { ok: false, detail: now.detail };
      if (quietMs > SILENT_MS)
        return { ok: false, detail: `Discord has not answered for ${Math.round(quietMs / 1_000)} s` };
      return { ok: true, detail: `last heartbeat answered ${Math.round(quietMs / 1_000)} s ago` };
    },
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("the channel is closing"));
      await keeping;
    },
  };
}

async function keep(deps: LinkDeps, options: LinkOptions, now: LinkNow, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  let state: LinkState = FRESH;
  let session: SessionInfo | null = null;
  while (!signal.aborted) {
    const resuming = state.session ? session : null;
    const { end, left } = await connectOnce(deps, { ...options, session: resuming }, now, signal);
    session = left;
    now.up = false;
    if (signal.aborted) return;
    const next = afterLink(state, end, chanceOf(deps.ids));
    state = next;
    now.detail = next.trouble ?? `not connected to Discord; next try in ${Math.ceil(next.pauseMs / 1_000)} s`;
    const fields = {
      end: end.kind,
      ...(end.kind === "failed" ? { detail: end.detail } : {}),
      pauseMs: next.pauseMs,
      resume: next.session,
      failures: next.failures,
    };
    if (next.trouble !== null) log.error("Discord refused the connection", { ...fields, say: next.trouble });
    else log.warn("connection to Discord ended", { ...fields, ...(end.kind === "closed" ? { code: end.code } : {}) });
    await clock.sleep(next.pauseMs, signal).catch(() => undefined); // closing is the normal end
  }
}

interface Wanted extends LinkOptions {
  readonly session: SessionInfo | null;
}

interface Ended {
  readonly end: LinkEnd;
  readonly left: SessionInfo | null;
}

async function connectOnce(deps: LinkDeps, wanted: Wanted, now: LinkNow, signal: AbortSignal): Promise<Ended> {
  deps.renew();
  const info = await findGateway(deps, signal);
  if ("kind" in info) return { end: info, left: wanted.session };
  const { remaining, reset_after: waitMs } = info.session_start_limit;
  // a bot that signs in too often a day loses its token; going on with a session is not counted
  if (wanted.session === null && remaining <= 0)
    return { end: { kind: "failed", detail: "no sign-ins left today", waitMs }, left: null };
  const beat = (): void => {
    now.beatAt = deps.clock.elapsed();
  };
  const up = (): void => {
    now.up = true;
    beat();
    deps.log.info("connected to Discord", { resumed: wanted.session !== null });
  };
  await using attempt = openAttempt(
    {
      clock: deps.clock,
      onReady(data) {
        up();
        deps.onReady(data);
      },
      onResumed: up,
      onDispatch: (payload) => deps.onDispatch(payload),
      onBeat: beat,
      onTrouble: (error) => deps.log.error("Discord said something unexpected", { error }),
    },
    { token: wanted.token.reveal(), intents: wanted.intents, info, session: wanted.session },
  );
  const watching = new AbortController();
  const watched = watch(deps.clock, attempt, now, AbortSignal.any([signal, watching.signal]));
  try {
    const end = await orAborted(attempt.ended, signal);
    return { end, left: attempt.session() };
  } catch {
    return { end: { kind: "failed", detail: "closing" }, left: null }; // nobody reads it any more
  } finally {
    watching.abort(new Error("the connection is over"));
    await watched;
  }
}

/** Ends a connection that is open and dead. */
async function watch(clock: Clock, attempt: Attempt, now: LinkNow, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(WATCH_MS, signal).catch(() => undefined); // as above
    if (!signal.aborted && now.up && clock.elapsed() - now.beatAt > SILENT_MS) attempt.giveUp();
  }
}

async function findGateway(deps: LinkDeps, signal: AbortSignal): Promise<APIGatewayBotInfo | LinkEnd> {
  using limit = deps.clock.deadline(INFO_MS, () => new Error("Discord did not answer"));
  const until = AbortSignal.any([signal, limit.signal]);
  try {
    return await orAborted(deps.api.gateway.getBot({ signal: until }), until);
  } catch (error) {
    const { kind } = failureOf(error);
    if (kind === "token") return { kind: "closed", code: TOKEN_REFUSED, wasUp: false, resuming: false };
    return { kind: "failed", detail: kind };
  }
}

/** What the gateway itself would say. */
const TOKEN_REFUSED = 4004;
