/**
 * `pi-gw doctor --fix`: mends what can be mended without a decision, and says what it did. While a gateway runs only file modes; everything
 * else belongs to that gateway, which mends it itself when it starts.
 */
import { lstat, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isGatewayError } from "../../contracts/errors.ts";
import { silentLog } from "../../kit/log.ts";
import type { CliWorld } from "../world.ts";
import type { Check } from "./check.ts";

interface FixScene {
  readonly world: CliWorld;
  /** The state directory. */
  readonly home: string;
  readonly isRunning: boolean;
  /** False: the database is in Postgres. */
  readonly hasDatabaseFile: boolean;
}

const PRIVATE_FOLDER = 0o700;
const NOTES = ["gateway.json", "gateway.pid"];

const fixed = (check: string, say: string): Check => ({ check, state: "fixed", say });

export async function* fixAll(scene: FixScene): AsyncGenerator<Check> {
  const { home, isRunning } = scene;
  if (!(await lstat(home).catch(() => null))) {
    await mkdir(home, { recursive: true, mode: PRIVATE_FOLDER });
    yield fixed("state directory", `${home} was missing and is made`);
    return;
  }
  const { makePrivate } = await import("../../store/index.ts");
  for (const path of await makePrivate(home))
    yield fixed("file modes", `${path} was open to others and is private now`);
  if (!isRunning) yield* fixAtRest(scene);
}

/** Under the lock of the state directory, so that no gateway starts in the middle of it. */
async function* fixAtRest({ world, home, hasDatabaseFile }: FixScene): AsyncGenerator<Check> {
  const left = await namesThere(home, NOTES);
  const { checkStore, openStateDirectory, openStore } = await import("../../store/index.ts");
  const held = await openStateDirectory({ log: silentLog }, home).catch((error: unknown) => error);
  if (!isHeld(held)) {
    const say = isGatewayError(held) ? held.say : String(held);
    yield { check: "state directory", state: "note", say: `Nothing else was mended. ${say}` };
    return;
  }
  await using _held = held;
  if (left.length > 0) {
    for (const name of left) await rm(join(home, name), { force: true });
    yield fixed("gateway", `what a gateway left that ended without a clean stop is removed: ${left.join(", ")}`);
  }
  const { killOrphans } = await import("../../agents/index.ts");
  const ended = await killOrphans({ clock: world.clock, log: silentLog }, home);
  if (ended > 0) yield fixed("pi", `${ended} agent processes of a gateway that is gone were ended`);
  const database = hasDatabaseFile ? await checkStore(home) : null;
  if (database?.kind !== "ok" || !database.indexDamaged) return;
  const { clock, ids } = world;
  await using _store = await openStore({ clock, ids, log: silentLog }, { home });
  yield fixed("database", "the damaged index for search is made anew; the next start fills it again");
}

function isHeld(held: unknown): held is AsyncDisposable {
  return typeof held === "object" && held !== null && Symbol.asyncDispose in held;
}

async function namesThere(home: string, names: readonly string[]): Promise<readonly string[]> {
  const there: string[] = [];
  for (const name of names) if (await lstat(join(home, name)).catch(() => null)) there.push(name);
  return there;
}
