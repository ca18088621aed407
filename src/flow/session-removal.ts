/** Deletes a session as a person asks for it: what waits is withdrawn, the running turn stopped, rows deleted, then files. Refuses while something new keeps coming. */
import type { Events } from "../contracts/events.ts";
import type { LiveTurns, SessionRemover, WaitingMessages } from "../contracts/flow.ts";
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import type { SessionKey } from "../contracts/ids.ts";
import type { RunSessionStore } from "../contracts/store/run-sessions.ts";
import type { SessionCare, SessionRemoval } from "../contracts/store/session-care.ts";
import type { AuditTrail } from "../contracts/store/tool-calls.ts";
import type { Clock } from "../kit/clock.ts";

interface RemoverDeps {
  readonly clock: Clock;
  readonly events: Events;
  readonly waiting: Pick<WaitingMessages, "cancel">;
  readonly abort: LiveTurns["abort"];
  readonly sessions: Pick<SessionCare, "remove" | "waiting">;
  readonly audit: Pick<AuditTrail, "note">;
  readonly deadFiles: Pick<RunSessionStore, "fileGone">;
  /** A file that is gone already is fine. Throws `conflict` while a process has it. */
  removeFile(name: string): Promise<void>;
}

/** A turn that is stopped ends within a few seconds; an agent that does not is killed by then. */
const TRY_FOR_MS = 20_000;
const PAUSE_MS = 100;

export function createSessionRemover(deps: RemoverDeps): SessionRemover {
  return {
    async remove(key, by, signal) {
      const { messages, media, files } = await removeRows(deps, key, signal);
      const at = deps.clock.now();
      await deps.audit.note({ kind: "session.deleted", at, actor: by, subject: key, detail: { messages, media } });
      for (const file of files) await removeFile(deps, file, signal);
      deps.events.emit("session.deleted", { sessionKey: key });
      deps.events.emit("status", { what: "sessions" });
      return { messages, media };
    },
  };
}

/** The process of a turn that was stopped gives its file back a moment later. One that does not is left to the next clearing of dead files. */
async function removeFile(deps: RemoverDeps, file: string, signal: AbortSignal): Promise<void> {
  const until = deps.clock.elapsed() + TRY_FOR_MS;
  for (;;) {
    try {
      await deps.removeFile(file);
      return await deps.deadFiles.fileGone(file);
    } catch (error) {
      if (!isGatewayError(error) || error.code !== "conflict") throw error;
      if (deps.clock.elapsed() > until) return;
    }
    await deps.clock.sleep(PAUSE_MS, signal);
  }
}

async function removeRows(
  deps: RemoverDeps,
  key: SessionKey,
  signal: AbortSignal,
): Promise<Extract<SessionRemoval, { kind: "removed" }>> {
  const until = deps.clock.elapsed() + TRY_FOR_MS;
  for (;;) {
    for (const { id, sender } of await deps.sessions.waiting(key)) await deps.waiting.cancel(id, sender);
    await deps.abort(key);
    const removal = await deps.sessions.remove(key);
    if (removal.kind === "removed") return removal;
    if (removal.kind === "unknown")
      throw new GatewayError("not_found", "no such session", { say: "There is no such session." });
    if (deps.clock.elapsed() > until)
      throw new GatewayError("conflict", "session is busy", {
        say: "Something still goes on in this session. Stop it, then try again.",
      });
    await deps.clock.sleep(PAUSE_MS, signal);
  }
}
