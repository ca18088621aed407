/** Workspaces whose scope was changed: their files are moved before the first agent starts, and after a backup. */
import { settleWorkspaces, workspaceFolders } from "../agents/index.ts";
import type { Core, GatewayDeps } from "./core.ts";

/** How often the supervisor is told that a start goes on. */
const TELL_MS = 10_000;

/** Returns sentences for the status. */
export function openWorkspaces(
  core: Core,
  startTakesLonger: GatewayDeps["startTakesLonger"],
): Promise<() => readonly string[]> {
  const { clock, log, config, options } = core;
  const { home, environment } = options;
  return settleWorkspaces(
    { clock, log, backUp: () => backUp(core, startTakesLonger) },
    home,
    workspaceFolders(config(), { home, environment }),
  );
}

/** As `pi-gw backup` makes it with the settings of the gateway. Loaded here, because hardly any start needs it. */
async function backUp(
  { clock, ids, config, options }: Core,
  startTakesLonger: GatewayDeps["startTakesLonger"],
): Promise<string> {
  const { backupFolder, createBackup } = await import("../backup/index.ts");
  const { home, version, environment, loaded } = options;
  const { folder, passphrase } = config().backup;
  let toldAt = Number.NEGATIVE_INFINITY;
  const progress = (): void => {
    if (clock.elapsed() - toldAt < TELL_MS) return;
    toldAt = clock.elapsed();
    startTakesLonger?.("Making a backup before the files of a workspace are moved");
  };
  const { file } = await createBackup(
    { clock, ids },
    {
      home,
      folder: backupFolder(folder, home, environment.userHome),
      version,
      config: loaded.path,
      passphrase: passphrase ?? null,
      progress,
    },
    new AbortController().signal,
  );
  return file;
}
