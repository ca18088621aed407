/** The HEARTBEAT.md of a workspace. The agent may write that folder, so only a plain file in it is read, and not more than a checklist has. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";

export const CHECKLIST = "HEARTBEAT.md";
const MAX_BYTES = 64 * 1024;

/** Null: there is none. */
export async function readChecklist(workspace: string): Promise<string | null> {
  try {
    await using file = await open(
      join(workspace, CHECKLIST),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return null; // not there, or not a file that may be read: the agent has no checklist
  }
}
