/** What `doctor` looks for while no gateway runs: what a running one would say about itself, and what a killed one left behind. Changes nothing. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config/index.ts";
import { readSmall } from "../state-directory.ts";
import type { CliWorld } from "../world.ts";
import type { Check } from "./check.ts";

interface RestScene {
  readonly world: CliWorld;
  /** The state directory. */
  readonly home: string;
  readonly config: Config;
  /** Of this machine; absent: not looked at. */
  readonly now: number | undefined;
}

const OTHERS_MODE_BITS = 0o077;
/** This version did not exist before. */
const FIRST_MOMENT = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
/** A small step is how clocks are kept right. */
const CLOCK_SHIFT_MS = 2 * MINUTE_MS;
const VARIABLE = /^\s*(?:export\s+)?([A-Za-z_]\w*)=/gm;

export async function* checkAtRest(scene: RestScene): AsyncGenerator<Check> {
  yield* await orphans(scene);
  yield await token(scene);
  yield await network(scene);
  yield* await clock(scene);
  yield* await serviceEnvironment(scene);
}

async function orphans({ home }: RestScene): Promise<readonly Check[]> {
  const { countOrphans } = await import("../../agents/index.ts");
  const count = countOrphans(home);
  if (count === 0) return [];
  const say = `${count} of a gateway that is gone still run. The next start ends them, and so does: pi-gw doctor --fix`;
  return [{ check: "processes", state: "broken", say }];
}

async function token({ home, config }: RestScene): Promise<Check> {
  const { weakToken } = await import("../../config/index.ts");
  const say = (state: Check["state"], text: string): Check => ({ check: "token", state, say: text });
  const file = join(home, "token");
  const configured = config.gateway.auth.token?.reveal();
  const value = configured ?? (await readSmall(file))?.trim();
  if (value === undefined) return say("ok", "it is made at the first start");
  const because = weakToken(value);
  if (because !== null) return say("broken", `the token ${because}. Make a new one: pi-gw token rotate`);
  if (configured === undefined && (await isOpenToOthers(file)))
    return say("broken", `${file} can be read by other users of this machine. Run: pi-gw doctor --fix`);
  return say("ok", configured === undefined ? `${file}, private` : "set in the configuration");
}

async function network({ config }: RestScene): Promise<Check> {
  const { reachOf } = await import("../../config/index.ts");
  const { bind, trustedProxies } = config.gateway;
  const reach = reachOf(bind);
  if (reach === "loopback") return { check: "network", state: "ok", say: "only this machine will reach the port" };
  const who = reach === "all" ? "every network of this machine" : `whoever reaches ${bind}`;
  if (trustedProxies.length > 0)
    return { check: "network", state: "ok", say: `${who} will reach the port; a trusted proxy is set` };
  const say = `${who} will reach the port without encryption (gateway.bind). Put a proxy with TLS before it.`;
  return { check: "network", state: "note", say };
}

/** The database tells when it was written last: a clock that is behind it was moved back. */
async function clock({ home, now }: RestScene): Promise<readonly Check[]> {
  if (now === undefined) return [];
  const check = "clock";
  const day = new Date(now).toISOString();
  if (now < FIRST_MOMENT) return [{ check, state: "broken", say: `it says ${day}, which is in the past. Set it.` }];
  const database = await lstat(join(home, "gateway.db")).catch(() => null);
  const aheadMs = (database?.mtimeMs ?? 0) - now;
  if (aheadMs <= CLOCK_SHIFT_MS) return [{ check, state: "ok", say: `it says ${day}` }];
  const minutes = Math.round(aheadMs / MINUTE_MS);
  const say = `it says ${day}, and the database was written ${minutes} min after that: it was moved back. Set it.`;
  return [{ check, state: "broken", say }];
}

/** Variables that only the service has: a gateway that is started here is another one. */
async function serviceEnvironment({ world, home }: RestScene): Promise<readonly Check[]> {
  const file = join(home, "service.env");
  const text = await readSmall(file);
  if (text === null) return [];
  const check = "service";
  if (await isOpenToOthers(file))
    return [
      { check, state: "broken", say: `${file} holds keys, and other users can read it. Run: pi-gw doctor --fix` },
    ];
  const names = [...text.matchAll(VARIABLE)].map(([, name = ""]) => name);
  const missing = names.filter((name) => world.environment.variables(name) === undefined);
  if (missing.length === 0) return [{ check, state: "ok", say: "this shell has every variable that the service has" }];
  const say = `the service has ${missing.join(", ")} (${file}) and this shell does not: a start from here would differ`;
  return [{ check, state: "note", say }];
}

async function isOpenToOthers(file: string): Promise<boolean> {
  const found = await lstat(file).catch(() => null);
  return found !== null && (found.mode & OTHERS_MODE_BITS) !== 0;
}
