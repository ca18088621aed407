/** A disk of its own for a folder, which can be full: it gets no larger than what is on it. Needs root. */
import { spawnSync } from "node:child_process";
import { rmSync, statfsSync, unlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath } from "node:fs/promises";
import { join } from "node:path";

export interface SmallDisk extends Disposable {
  readonly path: string;
  /** True: nothing more can be written to it from now on. */
  fill(): boolean;
  free(): void;
}

/** Open to every user, as the user of Postgres needs it. */
const PARENT = "/dev/shm";
const TRIED_BYTES = 64 * 1024;

/** Text: why there can be none on this machine. */
export async function openSmallDisk(megabytes: number): Promise<SmallDisk | string> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "only root on Linux mounts disks";
  const path = await realpath(await mkdtemp(join(PARENT, "pi-gateway-disk-")));
  const mounted = mount("-t", "tmpfs", "-o", `size=${megabytes}m,mode=1777`, "pi-gateway-test", path);
  if (mounted !== null) return `disks cannot be mounted here: ${mounted}`;
  const resize = (size: string): boolean => mount("-o", `remount,size=${size}`, path) === null;
  return {
    path,
    fill() {
      const { blocks, bfree, bsize } = statfsSync(path);
      return resize(String(Math.max(blocks - bfree, 1) * bsize)) && isFull(path); // a size of 0 is no limit
    },
    free: () => void resize(`${megabytes}m`),
    [Symbol.dispose]() {
      spawnSync("umount", ["--lazy", path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Null: it worked. */
function mount(...words: readonly string[]): string | null {
  const { status, stderr, error } = spawnSync("mount", words, { encoding: "utf8" });
  return status === 0 ? null : (error?.message ?? stderr.trim());
}

/** Tried, because a limit that is set is not yet a write that fails. */
function isFull(path: string): boolean {
  const file = join(path, "is-there-room");
  try {
    writeFileSync(file, new Uint8Array(TRIED_BYTES));
    return false;
  } catch {
    return true;
  } finally {
    unlinkSync(file);
  }
}
