/** How much room the disk of the state directory has, and who may open that. What cannot be asked is not known, and never an error. */
import { lstat, statfs } from "node:fs/promises";

const MODE_BITS = 0o777;

interface DiskFacts {
  readonly freeBytes: number | null;
  /** Permission bits of the folder. */
  readonly homeMode: number | null;
}

export async function diskFacts(home: string): Promise<DiskFacts> {
  const [disk, folder] = await Promise.all([statfs(home).catch(() => null), lstat(home).catch(() => null)]);
  return { freeBytes: disk && disk.bavail * disk.bsize, homeMode: folder && folder.mode & MODE_BITS };
}
