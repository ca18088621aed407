/**
 * Switches to an installed version: one file says that the next start tries it, and the running gateway is asked to make way for it. Then waits for
 * what became of it. Ending this command at any moment changes nothing about that.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { GatewayError, isGatewayError } from "../../contracts/errors.ts";
import { BASE, type Trial, versionFiles, type VersionFiles } from "../../update/index.ts";
import { createClient } from "../client.ts";
import { findGateway, type RunningGateway } from "../state-directory.ts";
import type { CliWorld } from "../world.ts";
import type { Installation } from "./installation.ts";

/** Turns may finish (gateway.stopGraceMs, at most ten minutes), then the new version starts, which may take as long. */
const SWITCH_MS = 25 * 60_000;
/** So long nobody may hold the state directory before we say that nobody starts the gateway again. */
const GONE_MS = 30_000;
const ASK_AGAIN_MS = 3_000;
const READY_MS = 60_000;
const REQUEST_MS = 10_000;
const LOOK_MS = 100;
/** The gateway holds its state directory as long as this is there. */
const PID_FILE = "gateway.pid";

export type Switched =
  /** No gateway runs: the next start tries it. */
  | { readonly kind: "waits" }
  | { readonly kind: "updated"; readonly url: string }
  | { readonly kind: "returned"; readonly why: string | null; readonly url: string | null };

interface SwitchTo {
  readonly home: string;
  readonly version: string;
}

/** The version that runs now, for the files. */
export function versionBefore(files: VersionFiles, { installed }: Installation): string {
  const current = files.current();
  return current !== null && current.over === installed ? current.version : BASE;
}

export async function switchOver(world: CliWorld, { home, version }: SwitchTo, from: Installation): Promise<Switched> {
  const files = versionFiles(home);
  const running = await findRunning(world, home);
  if (running !== null && running.launcher === null) throw notLaunched();
  const before = versionBefore(files, from);
  const trial: Trial = { before, next: version, over: from.installed, switchedAt: world.clock.now() };
  files.beginTrial(trial);
  if (running === null) return { kind: "waits" };
  try {
    await askForRestart(world, running);
  } catch (error) {
    const isGone = isGatewayError(error) && error.code === "not_found"; // whoever starts it again starts the new version
    if (!isGone && !files.hasStarted()) files.endTrial(); // nobody has begun it, and the old version goes on
    if (!isGone) throw error;
  }
  return waitForEnd(world, files, home);
}

async function findRunning(world: CliWorld, home: string): Promise<RunningGateway | null> {
  return findGateway(world, home).catch(() => null); // nothing wrote down that it runs there
}

async function askForRestart(world: CliWorld, running: RunningGateway): Promise<void> {
  using limit = world.clock.deadline(REQUEST_MS, () => new Error("The gateway did not answer within 10 seconds."));
  await createClient(running).ask({ method: "POST", path: "/api/restart" }, limit.signal);
}

/** A gateway that was killed and started again just before the switch has not heard of it. Whatever it answers, the files say what became of it. */
async function askAgain(world: CliWorld, home: string): Promise<void> {
  const running = await findRunning(world, home);
  if (running?.launcher) await askForRestart(world, running).catch(() => undefined);
}

async function waitForEnd(world: CliWorld, files: VersionFiles, home: string): Promise<Switched> {
  using limit = world.clock.deadline(SWITCH_MS, () => notBack());
  let heldAt = world.clock.elapsed();
  let askedAt = heldAt;
  while (files.hasTrial()) {
    const now = world.clock.elapsed();
    if (existsSync(join(home, PID_FILE))) heldAt = now;
    if (now - heldAt > GONE_MS) throw notBack();
    if (now - askedAt > ASK_AGAIN_MS && !files.hasStarted()) {
      askedAt = now;
      await askAgain(world, home);
    }
    await world.clock.sleep(LOOK_MS, limit.signal);
  }
  const outcome = files.outcome();
  const url = await readyUrl(world, home);
  if (outcome?.kind === "returned") return { kind: "returned", why: outcome.why, url };
  if (url === null) throw notBack();
  return { kind: "updated", url };
}

/** Null: it is not ready in time. */
async function readyUrl(world: CliWorld, home: string): Promise<string | null> {
  using limit = world.clock.deadline(READY_MS, () => new Error("not ready"));
  try {
    for (;;) {
      const running = await findRunning(world, home);
      const ready = running && (await fetch(`${running.url}/ready`, { signal: limit.signal }).catch(() => null)); // it starts, or has just stopped
      if (running && ready?.ok) return running.url;
      await world.clock.sleep(LOOK_MS, limit.signal);
    }
  } catch {
    return null; // the only way out of the loop is the limit
  }
}

function notLaunched(): GatewayError {
  return new GatewayError("bad_request", "the gateway was started without its launcher", {
    say: "The running gateway was started without the command pi-gw, so it cannot make way for another version. Nothing was changed. If it is a service, run: pi-gw service install; else start it with: pi-gw start",
  });
}

function notBack(): GatewayError {
  return new GatewayError("update_failed", "nobody started the gateway again", {
    say: "The gateway has not come back, and nobody has started it again. Start it with: pi-gw start. It takes the new version when that serves, and the old one when not; pi-gw logs says more.",
  });
}
