/** The HEARTBEAT.md of a workspace. The agent may write that folder, so only a plain file in it is read, and not more than a checklist has; and no link in it is followed. */
import { constants } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

export const CHECKLIST = "HEARTBEAT.md";
const MAX_BYTES = 64 * 1024;
const FILE_MODE = 0o600;

export function checklistFile(workspace: string): string {
  return join(workspace, CHECKLIST);
}

/** Null: there is none. */
export async function readChecklist(workspace: string): Promise<string | null> {
  try {
    await using file = await open(
      checklistFile(workspace),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return null; // not there, or not a file that may be read: the agent has no checklist
  }
}

/** False: it is not `before` any more. A link or a folder of that name is replaced, or refused by the system, and never written through. */
export async function writeChecklist(
  workspace: string,
  { text, before, copyName }: { readonly text: string; readonly before: string | null; readonly copyName: string },
): Promise<boolean> {
  if ((await readChecklist(workspace)) !== before) return false;
  await mkdir(workspace, { recursive: true });
  const copy = join(workspace, `.${CHECKLIST}.${copyName}`);
  try {
    await using file = await open(copy, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, FILE_MODE);
    await file.writeFile(text);
    await file.sync();
    await rename(copy, checklistFile(workspace));
  } catch (error) {
    await rm(copy, { force: true });
    throw error;
  }
  return true;
}
