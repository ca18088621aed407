/** What makes and reads backups, loaded by its first call: packing and streams take longer to load than most starts have need of them. */
type Create = typeof import("./create.ts");
type Open = typeof import("./open-backup.ts");
type Restore = typeof import("./restore.ts");

export const createBackup: Create["createBackup"] = async (...given) =>
  (await import("./create.ts")).createBackup(...given);

export const isEncrypted: Open["isEncrypted"] = async (...given) =>
  (await import("./open-backup.ts")).isEncrypted(...given);

export const verifyBackup: Restore["verifyBackup"] = async (...given) =>
  (await import("./restore.ts")).verifyBackup(...given);

export const restoreBackup: Restore["restoreBackup"] = async (...given) =>
  (await import("./restore.ts")).restoreBackup(...given);
