/** Exclusive use of one process with one session open. Tool calls on its pipe act for this lease's caller until it is given back. */
import { rm } from "node:fs/promises";
import type { AgentLease, LeaseRequest, StartedOver } from "../contracts/agent.ts";
import type { Usage } from "../contracts/chat.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { StoredFile } from "../contracts/store/session-files.ts";
import type { ToolContext } from "../contracts/tools/tool.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { compactSession } from "./talk/compact.ts";
import type { StoredSessions } from "./talk/stored-session.ts";
import { settledSize } from "./talk/session-file.ts";
import { endVisit } from "./talk/session-visit.ts";
import { sessionStats } from "./talk/session-stats.ts";
import type { OpenSession } from "./talk/session.ts";
import type { PlayedAgents } from "./process/played.ts";
import type { ReadyAgent } from "./setup/start.ts";
import { type Turn, startTurn } from "./talk/turn.ts";

export interface LeaseOptions {
  readonly request: LeaseRequest;
  readonly session: OpenSession;
  /** The process had it open already. */
  readonly wasOpen: boolean;
  /** What an interrupted attempt had cost. */
  readonly lost: Usage;
  readonly startedOver?: StartedOver | undefined;
  /** The session file as it is in the database; null: it is not there. */
  readonly stored: StoredFile | null;
  readonly silenceMs: number;
  readonly providerWaitMs: number;
  /** Processor time that programs of one turn may use. */
  readonly cpuSeconds: number;
  /** Called once. Null: the process must not be used again. */
  readonly giveBack: (session: OpenSession | null) => Promise<void>;
}

interface LeaseDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly played?: PlayedAgents;
  readonly storedSessions?: StoredSessions | undefined;
}

export function openLease(deps: LeaseDeps, agent: ReadyAgent, options: LeaseOptions): AgentLease {
  if (deps.played) return deps.played.lease(agent, options);
  const { process, pipe, door } = agent;
  const { session } = options;
  let turn: Turn | null = null;
  let trusted = true;
  let compacting: Promise<unknown> | null = null;
  let returned: Promise<void> | null = null;

  const context: ToolContext = { ...options.request.caller, stats: (signal) => sessionStats(process, signal) };
  pipe.serve(context);
  door.lease(options.request.caller);

  const close = async (): Promise<void> => {
    turn?.halt();
    if (turn) trusted = (await turn.over) && trusted;
    await compacting;
    pipe.serve(null);
    door.lease(null);
    if (trusted) await pipe.endLeftRunning(); // a process that is not used again takes everything with it anyway
    const bytes = trusted ? settledSize(session.path) : 0; // 0 is never a match, so the session is opened again
    const visit = { log: deps.log, kept: session.kept, visiting: session.path };
    if (trusted) endVisit(visit);
    const wasTrusted = trusted;
    await options.giveBack(wasTrusted ? { ...session, bytes } : null);
    // Of a process that had to be ended first, because it might still write. One that goes on may have the file for its next turn already.
    if (!wasTrusted) endVisit(visit);
    if (options.request.passing) await rm(session.kept, { force: true });
  };

  return {
    pid: process.pid,
    wasOpen: options.wasOpen,
    prompt(input, signal) {
      if (turn || compacting || returned)
        throw new GatewayError("internal", "a lease serves one prompt at a time, and none after its end");
      const { silenceMs, providerWaitMs, cpuSeconds } = options;
      const current = startTurn(
        deps,
        agent,
        { input, model: session.model, silenceMs, providerWaitMs, cpuSeconds },
        signal,
      );
      turn = current;
      void current.over.then((stillTrusted) => {
        trusted &&= stillTrusted;
        turn = null;
      });
      return current.events;
    },
    steer: async (input, signal) => (signal.aborted || !turn ? "too_late" : turn.steer(input)),
    settledBytes: async () => settledSize(session.path),
    fileChange: async (settledBytes) =>
      (await deps.storedSessions?.changeOf({ name: session.file, path: session.path, settledBytes }, options.stored)) ??
      null,
    stats: context.stats,
    lost: options.lost,
    ...(options.startedOver ? { startedOver: options.startedOver } : {}),
    async compact(instructions, signal) {
      if (turn || compacting || returned)
        throw new GatewayError("internal", "a lease does one thing at a time, and nothing after its end");
      const work = compactSession(deps, agent, { instructions, model: session.model }, signal);
      compacting = work;
      const { result, trusted: stillTrusted } = await work;
      trusted &&= stillTrusted;
      compacting = null;
      return result;
    },
    [Symbol.asyncDispose]() {
      returned ??= close();
      return returned;
    },
  };
}
