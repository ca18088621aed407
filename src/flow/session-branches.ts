/** Goes back in a session before a turn, and branches off one after a turn, with the memory that the assistant had then. Refuses while something goes on in it. */
import type { TranscriptItem } from "../contracts/chat.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { Events } from "../contracts/events.ts";
import type { BranchRequest, SessionBrancher } from "../contracts/flow.ts";
import type { SessionKey } from "../contracts/ids.ts";
import type { SessionStore } from "../contracts/store.ts";
import type { CopiedFile, TurnPlace } from "../contracts/store/session-branches.ts";
import type { FileChange } from "../contracts/store/session-files.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import { newSessionFile } from "../store/index.ts";

interface BrancherDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly events: Events;
  readonly sessions: Pick<SessionStore, "get" | "transcript" | "branches">;
  copyFile(copy: FileCopy): Promise<CopyResult>;
  removeFile(name: string): Promise<void>;
}

interface FileCopy {
  readonly from: string;
  readonly to: string;
  readonly id: string;
  readonly bytes: number;
  readonly endedAt: number;
}

type CopyResult =
  { readonly kind: "copied"; readonly change: FileChange | null } | { readonly kind: "busy" | "lost" | "too_large" };

/** The process of a turn that has just ended gives its file back within this time. */
const TRY_FOR_MS = 5_000;
const PAUSE_MS = 50;

export function createSessionBrancher(deps: BrancherDeps): SessionBrancher {
  const { clock, events, sessions } = deps;
  return {
    async rewind(key, id, signal) {
      const place = await endedPlace(deps, key, id);
      const file = await copyTo(deps, place, place.beganBytes, signal);
      const done = await sessions.branches.rewind(key, { turnId: place.turnId, file, at: clock.now() });
      if (done.kind !== "rewound") {
        if (file) await deps.removeFile(file.name);
        throw done.kind === "gone" ? notShown() : done.kind === "busy" ? busy() : tooFar();
      }
      for (const hidden of done.hidden) events.emit("message", { sessionKey: key, item: gone(hidden, clock.now()) });
      events.emit("status", { what: "sessions" });
      return { said: place.said };
    },
    async branch(key, request, signal) {
      const source = await sessions.get(key);
      const id = request.message ?? (await lastIdOf(deps, key));
      if (!source || id === null)
        throw new GatewayError("not_found", "nothing to branch", { say: "Nothing was said in this session yet." });
      const place = await endedPlace(deps, key, id);
      const file = await copyTo(deps, place, place.settledBytes, signal);
      const title = branchTitle(source.title);
      const wanted = newBranch(request, { from: key, turnId: place.turnId, title, file, at: clock.now() });
      if (!(await sessions.branches.branch(wanted))) {
        if (file) await deps.removeFile(file.name);
        throw new GatewayError("conflict", "branch refused", {
          say: "A session of that name is there already, or the message is not part of this one any more.",
        });
      }
      events.emit("status", { what: "sessions" });
      return { sessionKey: request.to.sessionKey, title };
    },
  };
}

type Found = Pick<Parameters<SessionStore["branches"]["branch"]>[0], "from" | "turnId" | "title" | "file" | "at">;

function newBranch({ to, by }: BranchRequest, found: Found) {
  return { ...found, key: to.sessionKey, channel: to.channel, person: by };
}

type EndedPlace = TurnPlace & { readonly endedAt: number };

async function endedPlace({ sessions }: BrancherDeps, key: SessionKey, id: string): Promise<EndedPlace> {
  const place = await sessions.branches.place(key, id);
  if (!place) throw notShown();
  const { endedAt } = place;
  if (endedAt === null) throw busy();
  return { ...place, endedAt };
}

/** Null: there is nothing to remember. */
async function copyTo(
  { clock, ids, copyFile }: BrancherDeps,
  { file: from, endedAt }: EndedPlace,
  bytes: number | null,
  signal: AbortSignal,
): Promise<CopiedFile | null> {
  if (bytes === null) throw forgotten();
  if (bytes === 0) return null;
  const until = clock.elapsed() + TRY_FOR_MS;
  const copy = { from, to: newSessionFile(ids), id: ids.next("ses"), bytes, endedAt };
  for (;;) {
    const done = await copyFile(copy);
    if (done.kind === "copied") return { name: copy.to, bytes, ...(done.change ? { change: done.change } : {}) };
    if (done.kind === "lost") throw forgotten();
    if (done.kind === "too_large")
      throw new GatewayError("too_large", "session file too large", {
        say: "This conversation is too long to be continued from an earlier point. /compact shortens it.",
      });
    if (clock.elapsed() > until) throw busy();
    await clock.sleep(PAUSE_MS, signal);
  }
}

async function lastIdOf({ sessions }: BrancherDeps, key: SessionKey): Promise<string | null> {
  const { items } = await sessions.transcript(key, { limit: 1 });
  return items.findLast(({ turnId }) => turnId !== null)?.id ?? null;
}

const MARK = " (branch)";

/** Marked once, however often it is branched. */
function branchTitle(title: string): string {
  return title.endsWith(MARK) ? title : `${title || "Untitled"}${MARK}`;
}

function gone(id: string, at: number): TranscriptItem {
  return { id, role: "user", text: "", at, turnId: null, deleted: true };
}

const notShown = () =>
  new GatewayError("not_found", "message not shown", {
    say: "There is no such message in this conversation, or not any more.",
  });
const busy = () =>
  new GatewayError("conflict", "session is busy", {
    say: "An answer is being written here, or a message waits. Stop it, or try again when it is done.",
  });
const tooFar = () =>
  new GatewayError("conflict", "too many turns to go back", {
    say: "That is too far back to go on from here. Branch the conversation at that message instead.",
  });
const forgotten = () =>
  new GatewayError("conflict", "session file position not known", {
    say: "What the assistant remembered at this point is not kept any more, so it cannot go on from here.",
  });
