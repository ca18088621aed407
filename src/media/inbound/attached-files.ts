/** Puts what somebody attached where their agent can open it: a copy below its workspace, under a name of our own. For agents that can read files. */
import { constants } from "node:fs";
import { mkdir, open, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { AgentId, MediaId, Principal, Role } from "../../contracts/ids.ts";
import type { AttachedFiles } from "../../contracts/agent-files.ts";
import type { MediaStore } from "../../contracts/store.ts";
import type { Log } from "../../kit/log.ts";

export interface AttachedDeps {
  readonly log: Log;
  readonly media: Pick<MediaStore, "read">;
  /** Where this agent works for this role, which is there; null: it has no tool that reads files. */
  workspaceOf(agentId: AgentId, role: Role, principal: Principal): Promise<string | null>;
}

const FOLDER = "attachments";
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
/** Never the ending that its sender chose. */
const ENDINGS: Readonly<Record<string, string>> = {
  "image/png": ".png",
  "image/jpeg": ".jpg",
  "image/gif": ".gif",
  "image/webp": ".webp",
  "image/svg+xml": ".svg",
  "application/pdf": ".pdf",
  "application/json": ".json",
  "application/zip": ".zip",
  "application/gzip": ".gz",
  "text/html": ".html",
  "text/plain": ".txt",
  "audio/ogg": ".ogg",
  "audio/mpeg": ".mp3",
  "audio/wav": ".wav",
  "audio/mp4": ".m4a",
  "video/mp4": ".mp4",
  "video/webm": ".webm",
};

export function createAttachedFiles(deps: AttachedDeps): AttachedFiles {
  return {
    async place({ mediaId, mimeType }, { agentId, role, principal }) {
      const name = `${mediaId}${ENDINGS[mimeType] ?? ".bin"}`;
      try {
        const workspace = await deps.workspaceOf(agentId, role, principal);
        if (workspace === null) return null;
        const data = await deps.media.read(mediaId);
        if (!data) return null;
        await write(workspace, name, data);
        return join(FOLDER, name);
      } catch (error) {
        deps.log.warn("attachment could not be put into the workspace", { agentId, mediaId, error });
        return null; // the model is told that it cannot open it
      }
    },
  };
}

/** Which attachment lies at this path of a workspace; null: none. */
export function receivedMediaId(parts: readonly string[]): MediaId | null {
  const [folder, name, more] = parts;
  if (folder !== FOLDER || name === undefined || more !== undefined) return null;
  return name.replace(/\.[a-z0-9]+$/, "") as MediaId;
}

/** The workspace is the agent's to change: a link in place of the folder or the file leads nowhere. */
async function write(workspace: string, name: string, data: Uint8Array): Promise<void> {
  const base = await realpath(workspace);
  const folder = join(base, FOLDER);
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  if ((await realpath(folder)) !== folder) throw new Error("the folder for attachments is a link");
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
  const file = await open(join(folder, name), flags, PRIVATE_FILE);
  try {
    await file.writeFile(data);
  } finally {
    await file.close();
  }
}
