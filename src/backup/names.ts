/** Names of backups: the moment they were made, and whether a passphrase opens them. Which of them are old enough to go is decided here. */
import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";

const NAME = /^pi-gateway-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar\.gz(\.enc)?$/;

interface BackupFile {
  readonly name: string;
  readonly file: string;
  readonly createdAt: number;
  readonly encrypted: boolean;
  readonly bytes: number;
}

export function backupName(at: number, encrypted: boolean): string {
  return `pi-gateway-${momentText(at)}.tar.gz${encrypted ? ".enc" : ""}`;
}

/** "20260301T000100Z": sorts by time, and is a file name everywhere. */
export function momentText(at: number): string {
  return new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, "");
}

/** `folder` as the settings have it; left out, a folder of the state directory. */
export function backupFolder(folder: string | undefined, home: string, userHome: string): string {
  if (folder === undefined) return join(resolve(home), "backups");
  return folder === "~" || folder.startsWith("~/") ? join(userHome, folder.slice(1)) : resolve(folder);
}

/** Null: the name of something else. */
function momentOf(name: string): number | null {
  const [, year, month, day, hour, minute, second] = NAME.exec(name) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : at;
}

/** The newest first. A folder that is not there holds none. */
export async function listBackups(folder: string): Promise<readonly BackupFile[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  });
  const found: BackupFile[] = [];
  for (const name of names) {
    const createdAt = momentOf(name);
    if (createdAt === null) continue;
    const file = join(folder, name);
    const { size } = await stat(file);
    found.push({ name, file, createdAt, encrypted: name.endsWith(".enc"), bytes: size });
  }
  return found.sort((a, b) => b.createdAt - a.createdAt);
}

/** Those beyond the newest `keep`. */
export function outdated(backups: readonly BackupFile[], keep: number): readonly BackupFile[] {
  return backups.toSorted((a, b) => b.createdAt - a.createdAt).slice(keep);
}
