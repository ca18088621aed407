/**
 * Backups of a state directory: made while the gateway runs, checked file by file, encrypted on request, and brought back. `createBackups` makes
 * them by the clock. Deletes only backups of its own name, and only those beyond the number that is to be kept.
 */
export { createBackup, isEncrypted, restoreBackup, verifyBackup } from "./loaded-late.ts";
export { backupFolder, listBackups } from "./names.ts";
export { createBackups, type Backups } from "./schedule.ts";
