/** What is done with whole sessions: deleting one, going back in one, branching off one. */
import { copySession } from "../agents/index.ts";
import type { LiveTurns, SessionBrancher, SessionRemover, WaitingMessages } from "../contracts/flow.ts";
import { createSessionBrancher, createSessionRemover } from "../flow/index.ts";
import type { Core } from "./core.ts";
import { deadFileRemover } from "./files.ts";

interface RunningTurns {
  readonly waiting: WaitingMessages;
  readonly abort: LiveTurns["abort"];
}

export function createSessionCare(core: Core, { waiting, abort }: RunningTurns): SessionRemover & SessionBrancher {
  const { clock, ids, events, store, options } = core;
  const { sessions, audit, runSessions: deadFiles } = store;
  const removeFile = deadFileRemover(store, options.home);
  const remover = createSessionRemover({ clock, events, waiting, abort, sessions, audit, deadFiles, removeFile });
  const copyFile = (copy: Parameters<typeof copySession>[1]) => copySession(options.home, copy, store.sessionFiles);
  const brancher = createSessionBrancher({ clock, ids, events, sessions, copyFile, removeFile });
  return { remove: remover.remove, rewind: brancher.rewind, branch: brancher.branch };
}
