/** The manifest of a backup: which files it holds, and what each of them is. It is the last entry, so an archive that has one is complete. */
import { backupDamaged } from "./damaged.ts";

export const MANIFEST_PATH = "backup-manifest.json";
const FORMAT = 1;

export interface ManifestFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface Manifest {
  readonly format: number;
  /** Of the gateway that made it. */
  readonly version: string;
  readonly createdAt: string;
  /** The state directory it was made of. */
  readonly home: string;
  readonly files: readonly ManifestFile[];
  /** Deleted while the backup was made. */
  readonly gone: readonly string[];
}

export function manifestOf(
  about: Pick<Manifest, "version" | "createdAt" | "home">,
  files: readonly ManifestFile[],
  gone: readonly string[],
): Manifest {
  return { format: FORMAT, ...about, files, gone };
}

export function parseManifest(text: string): Manifest {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw backupDamaged("its manifest is not JSON");
  }
  const { format, version, createdAt, home, files, gone } = Object(parsed) as Partial<Record<keyof Manifest, unknown>>;
  if (format !== FORMAT) throw backupDamaged(`it has format ${String(format)}, and this gateway reads ${FORMAT}`);
  if (typeof version !== "string" || typeof createdAt !== "string" || typeof home !== "string")
    throw backupDamaged("its manifest is not complete");
  if (!Array.isArray(files) || !files.every(isFile) || !Array.isArray(gone))
    throw backupDamaged("its manifest does not list its files");
  return { format, version, createdAt, home, files, gone: gone.map(String) };
}

function isFile(value: unknown): value is ManifestFile {
  const { path, bytes, sha256 } = Object(value) as Partial<Record<keyof ManifestFile, unknown>>;
  return typeof path === "string" && Number.isSafeInteger(bytes) && typeof sha256 === "string";
}
