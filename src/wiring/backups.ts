/** Backups by the clock: the settings, the file they come from, and the owner who is told when one fails. */
import { type Backups, createBackups } from "../backup/index.ts";
import type { ConfigStatus } from "../contracts/wire.ts";
import type { Core } from "./core.ts";
import type { People } from "./people.ts";

export function openBackups(
  { clock, ids, log, config, options }: Core,
  { ownerNotices }: Pick<People, "ownerNotices">,
  reloader: { status(): ConfigStatus },
): Backups {
  const { home, version, environment } = options;
  return createBackups(
    {
      clock,
      ids,
      log,
      settings: () => config().backup,
      config: () => reloader.status().file,
      tellOwner: ownerNotices.tell,
    },
    { home, version, userHome: environment.userHome },
  );
}
