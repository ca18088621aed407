/**
 * Reads a session into a process before a turn needs it. The process reads a copy: the file itself stays where it is kept, so a turn, a deletion
 * or a backup at the same moment finds it as always, and nothing is written into it. A file that a turn would have to mend first is left to the turn.
 */
import { constants } from "node:fs";
import { copyFile, rm, writeFile } from "node:fs/promises";
import type { LeaseRequest } from "../../contracts/agent.ts";
import type { Clock } from "../../kit/clock.ts";
import { copyMark } from "../../kit/copy-mark.ts";
import { isStartedOver } from "../setup/damaged-session.ts";
import type { AgentFolders } from "../setup/agent-folder.ts";
import type { InspectSession } from "../setup/session-inspector.ts";
import type { ReadyAgent } from "../setup/start.ts";
import { modelName, text } from "./protocol.ts";
import { type OpenSession, switchTo } from "./session.ts";
import { sessionPath, sizeOf } from "./session-file.ts";

/** For an answer of pi. A turn may wait for them, so it is less than a process that serves a turn may take. */
const ANSWER_MS = 1_000;

type AheadRequest = Pick<LeaseRequest, "sessionFile" | "settledBytes"> & {
  readonly folders: Pick<AgentFolders, "sessions" | "workspace">;
};

/** The file is as the last finished turn left it. */
export async function canReadAhead(request: AheadRequest, inspect: InspectSession): Promise<boolean> {
  const { folders, sessionFile, settledBytes } = request;
  const kept = sessionPath(folders.sessions, sessionFile);
  if (settledBytes === 0 || sizeOf(kept) !== settledBytes) return false;
  const { flaw, header } = await inspect(kept, settledBytes);
  return flaw === null && !isStartedOver(header, settledBytes) && header?.cwd === folders.workspace;
}

/** Null: the process has read something else than what is kept, and has to open it again. Throws when it cannot be trusted any more. */
export async function readAhead(
  { clock }: { readonly clock: Clock },
  agent: ReadyAgent,
  { folders, sessionFile, settledBytes }: AheadRequest,
): Promise<OpenSession | null> {
  const kept = sessionPath(folders.sessions, sessionFile);
  const path = sessionPath(agent.visits, sessionFile);
  if (sizeOf(path) > 0) return null; // the session itself, which must not be marked as a copy
  try {
    await writeFile(copyMark(path), "");
    if (!(await isCopied(kept, path)) || sizeOf(path) !== settledBytes) return null;
    const state = await switchTo(clock, agent, path, ANSWER_MS);
    if (sizeOf(path) !== settledBytes) return null; // pi has written into the copy
    // as the session has them: what was chosen for it since is set by the turn, which may write that down
    const set = { model: modelName(state.model) ?? "", thinking: text(state.thinkingLevel) };
    return { file: sessionFile, kept, path, bytes: settledBytes, ...set };
  } finally {
    await rm(path, { force: true });
    await rm(copyMark(path), { force: true }); // last: without it a copy would count as the session
  }
}

/** False: a turn has begun, the session was deleted, or the process is gone with its folder. */
async function isCopied(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}
