/** Workspaces whose scope was changed: their files are moved before the first agent starts, and after a backup. */
import { settleWorkspaces, workspaceFolders } from "../agents/index.ts";
import type { Clock } from "../kit/clock.ts";
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
  const goesOn = nowAndThen(clock, () => startTakesLonger?.("Moving the files of a workspace, after a backup"));
  return settleWorkspaces(
    { clock, log, goesOn, backUp: () => backUp(core, goesOn) },
    home,
    workspaceFolders(config(), { home, environment }),
  );
}

function nowAndThen(clock: Clock, tell: () => void): () => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.elapsed() - toldAt < TELL_MS) return;
    toldAt = clock.elapsed();
    tell();
  };
}

/** As `pi-gw backup` makes it with the settings of the gateway. Loaded here, because hardly any start needs it. */
async function backUp({ clock, ids, config, options }: Core, progress: () => void): Promise<string> {
  const { backupFolder, createBackup } = await import("../backup/index.ts");
  const { home, version, environment, loaded } = options;
  const { folder, passphrase } = config().backup;
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
