/** Backups that the gateway makes by itself. */
import { Type } from "typebox";
import { closed, duration, path, secretText, wholeNumber } from "./kinds.ts";

export const BackupSection = Type.Object(
  {
    every: Type.Optional(
      duration(
        { minimum: 600_000 },
        'How often the gateway makes a backup by itself, such as "1d". Left out: never. The first one is made when the newest is older than this.',
      ),
    ),
    keep: wholeNumber(
      { default: 7, minimum: 1, maximum: 1_000 },
      "How many backups stay in the folder; the oldest are deleted after a new one was made.",
    ),
    folder: path(
      "Where backups are kept, best on another disk. Default: backups/ in the state directory, which does not help when that disk fails.",
    ),
    passphrase: secretText(
      'Encrypts the backups that the gateway makes by itself; use "${BACKUP_PASSPHRASE}" to read it from the environment. Without it nobody can open them: keep it elsewhere too.',
    ),
  },
  { ...closed, description: "Backups that the gateway makes by itself." },
);
