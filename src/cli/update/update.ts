/**
 * `pi-gw update`: installs a version beside this one, backs up, tries the new one on a copy, switches, and says what became of it. Everything up to
 * the switch leaves the running gateway alone; from the switch on the launcher and the starts themselves decide (docs/update.md).
 */
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import { visible, visibleLines } from "../../observe/index.ts";
import { holdFile } from "../../store/index.ts";
import { versionFiles } from "../../update/index.ts";
import { makeBackup } from "../backup/commands.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { homeOf } from "../state-directory.ts";
import type { CliWorld, CommonFlags } from "../world.ts";
import { installationOf } from "./installation.ts";
import { install, newestVersion, removeOthers } from "./npm.ts";
import { rehearse } from "./rehearsal.ts";
import { type Switched, switchOver, versionBefore } from "./switch-over.ts";
import { updateStatus } from "./update-status.ts";
import { isNewer } from "./version-order.ts";

export interface UpdateFlags extends CommonFlags {
  readonly check?: boolean;
  readonly status?: boolean;
  readonly from?: string;
  /** False: none is made. */
  readonly backup?: boolean;
  readonly config?: string;
}

/** An update that was killed between its switch and its end is settled by the next start; so long we wait for that. */
const SETTLE_MS = 30_000;
const LOOK_MS = 100;
const PRIVATE_FOLDER = 0o700;

export async function update(world: CliWorld, wanted: string | undefined, flags: UpdateFlags): Promise<number> {
  if (flags.check) return check(world, flags);
  if (flags.status) return updateStatus(world, flags);
  const installation = await installationOf(world);
  const home = homeOf(flags.home, world.environment);
  const files = versionFiles(home);
  await mkdir(files.folder, { recursive: true, mode: PRIVATE_FOLDER });
  using lock = await holdFile(join(files.folder, "lock.db"));
  if (lock === null) throw busy("Another pi-gw update is at work on this state directory.");
  await settled(world, home);
  const spec = await specOf(world, wanted, flags);
  if (spec === null) return upToDate(world, flags);
  const before = versionBefore(files, installation);
  await removeOthers(files.folder, [before]);
  say(world, flags, `Installing ${spec} beside version ${world.version} …`);
  const version = await install(world, files.folder, { spec, taken: [before, world.version] });
  if (version === null) return upToDate(world, flags);
  const backup = flags.backup === false ? null : await backedUp(world, flags);
  say(world, flags, `Trying version ${version} on a copy of the database …`);
  await rehearse(world, { home, folder: files.folder, version, config: flags.config });
  say(world, flags, "Switching: turns that run may finish …");
  const switched = await switchOver(world, { home, version }, installation);
  return report(world, flags, { switched, version, backup });
}

async function check(world: CliWorld, flags: UpdateFlags): Promise<number> {
  const newest = await newestVersion(world);
  const newer = isNewer(newest, world.version);
  const text = newer
    ? `Version ${newest} is there; this is ${world.version}. Update with: pi-gw update`
    : `This is the newest version, ${world.version}.`;
  world.stdout(flags.json ? `${JSON.stringify({ version: world.version, newest, newer })}\n` : `${text}\n`);
  return EXIT_OK;
}

/** What npm is to install; null: there is nothing newer. */
async function specOf(world: CliWorld, wanted: string | undefined, { from }: UpdateFlags): Promise<string | null> {
  if (from !== undefined) return resolve(world.cwd, from);
  if (wanted !== undefined) return `pi-gateway@${wanted}`;
  const newest = await newestVersion(world);
  return isNewer(newest, world.version) ? `pi-gateway@${newest}` : null;
}

/** What an earlier update left: a switch that nobody has begun is withdrawn, one that was begun ends with the next start of the gateway. */
async function settled(world: CliWorld, home: string): Promise<void> {
  const files = versionFiles(home);
  if (!files.hasTrial()) return;
  if (!files.hasStarted()) return files.endTrial();
  using limit = world.clock.deadline(SETTLE_MS, () =>
    busy("An earlier update has not ended. Start the gateway with: pi-gw start, then update again."),
  );
  while (files.hasTrial()) await world.clock.sleep(LOOK_MS, limit.signal);
}

async function backedUp(world: CliWorld, flags: UpdateFlags): Promise<string> {
  say(world, flags, "Backing up …");
  const { file, isElsewhere } = await makeBackup(world, flags, (hasPassphrase) => hasPassphrase);
  if (isElsewhere)
    say(
      world,
      flags,
      "The database is in Postgres and not in this backup: there is no way back once its tables are newer.",
    );
  return file;
}

interface Done {
  readonly switched: Switched;
  readonly version: string;
  readonly backup: string | null;
}

function report(world: CliWorld, flags: UpdateFlags, { switched, version, backup }: Done): number {
  const from = world.version;
  if (flags.json)
    world.stdout(`${JSON.stringify({ outcome: switched.kind, from, to: version, backup, ...whyOf(switched) })}\n`);
  else world.stdout(`${visibleLines(sentenceOf(switched, from, version))}\n`);
  return switched.kind === "returned" ? EXIT_FAILED : EXIT_OK;
}

function whyOf(switched: Switched): { readonly why?: string | null } {
  return switched.kind === "returned" ? { why: switched.why } : {};
}

function sentenceOf(switched: Switched, from: string, to: string): string {
  switch (switched.kind) {
    case "updated":
      return `Version ${to} serves at ${switched.url}. It was ${from}.`;
    case "waits":
      return `Version ${to} is installed. No gateway runs here: the next pi-gw start takes it, and ${from} again if it does not start.`;
    case "returned": {
      const serving = switched.url === null ? `${from} starts again` : `${from} serves again at ${switched.url}`;
      return `Version ${to} did not start: ${switched.why ?? "it ended without a word"}\n${serving}, with everything that was accepted.`;
    }
  }
}

function upToDate(world: CliWorld, flags: UpdateFlags): number {
  const { version } = world;
  world.stdout(
    flags.json ? `${JSON.stringify({ outcome: "none", from: version })}\n` : `This is ${version} already.\n`,
  );
  return EXIT_OK;
}

function say(world: CliWorld, flags: UpdateFlags, text: string): void {
  if (!flags.json) world.stderr(`${visible(text)}\n`);
}

function busy(text: string): GatewayError {
  return new GatewayError("conflict", "an update is under way", { say: text });
}
