/** Which files may be attached. The gateway looks at the bytes as well; this only saves a pointless upload. */
const MAX_FILES = 8;
const MAX_FILE_BYTES = 25 * 1024 * 1024;
const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

const SIZES = ["bytes", "KB", "MB"] as const;

/** 640 bytes, 1.5 KB, 12 MB. */
export function sizeText(bytes: number): string {
  const step = bytes < 1024 ? 0 : bytes < 1024 * 1024 ? 1 : 2;
  const count = bytes / 1024 ** step;
  return `${count >= 10 || step === 0 ? Math.round(count) : count.toFixed(1)} ${SIZES[step]}`;
}

/** Why a file cannot be attached, or null. */
export function refuseFile(file: { readonly name: string; readonly size: number }, already: number): string | null {
  if (already >= MAX_FILES) return `A message can carry ${MAX_FILES} files; “${file.name}” was left out.`;
  if (file.size === 0) return `“${file.name}” is empty.`;
  if (file.size > MAX_FILE_BYTES) return `“${file.name}” is larger than 25 MB.`;
  return null;
}

/** Shown as it is; everything else by its name. */
export function isPicture(mimeType: string): boolean {
  return PICTURES.has(mimeType);
}
