/**
 * Updates that are killed: a real gateway with the real launcher and the real `pi-gw update`, under clients that never stop, and kill -9 of the update,
 * of the gateway or of everything at a random moment. After each, the old or the new version has to serve, and no acknowledged message is gone.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/kit/clock.ts";
import { type Chance, createChance } from "../../src/testing/chance.ts";
import { listenForDatagrams } from "../../src/testing/datagram-socket.ts";
import { freePort } from "../../src/testing/free-port.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { waitFor } from "../../src/testing/wait-for.ts";
import { checkRows, startClients } from "./clients.ts";
import { createPackages, type Flaw, type Packages } from "./packages.ts";
import { killHard, supervise, type Supervised } from "./supervised.ts";

interface UpdateKillsOptions {
  readonly rounds: number;
  readonly seed: number;
  /** No kill: what an update that nobody disturbs ends with. */
  readonly calm?: boolean;
  onRound?(line: string): void;
}

export interface UpdateKillsReport {
  readonly rounds: number;
  readonly kills: Readonly<Record<Target, number>>;
  /** Which version served after the kill. */
  readonly servedOld: number;
  readonly servedNew: number;
  /** Versions with a bug, none of which may serve in the end. */
  readonly flawed: number;
  readonly slowestMs: number;
  readonly acknowledged: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly problems: readonly string[];
}

type Target = "nobody" | "update" | "gateway" | "its shell" | "everything";

const TARGETS: readonly [Target, ...Target[]] = ["update", "gateway", "its shell", "everything"];
/** What the promise says. */
const SERVES_WITHIN_MS = 30_000;
/** On a busy machine: turns end, the old version stops, the new one starts. */
const SETTLES_WITHIN_MS = 60_000;
const UPDATE_MS = 90_000;
const CLIENTS = 3;
const FLAWED = 0.2;
const MIGRATES = 0.5;
const FIRST_UPDATE_MS = 4_000;
/** Share of the kills that fall after the switch, where an old and a new version meet, and how long after it at most. */
const AIMED = 0.6;
const AIMED_MS = 1_500;
const CONFIG = { agent: { pool: { min: 0, max: 1 } }, logging: { level: "warn" } };
const NEVER = new AbortController().signal;

interface World {
  readonly home: string;
  readonly url: string;
  readonly packages: Packages;
  readonly gateway: Supervised;
  readonly chance: Chance;
  readonly calm: boolean;
  /** The version that serves, and how many tables it has more. */
  version: string;
  migrations: number;
  /** How long an update takes that is not disturbed, as far as is known: kills fall within it. */
  updateMs: number;
}

interface Round {
  readonly target: Target;
  readonly flaw: Flaw;
  readonly served: "old" | "new" | "none" | "wrong";
  readonly ms: number;
  readonly line: string;
}

export async function runUpdateKills({
  rounds,
  seed,
  calm = false,
  onRound,
}: UpdateKillsOptions): Promise<UpdateKillsReport> {
  const chance = createChance(seed);
  await using folder = await tempHome();
  const home = join(folder.path, "home");
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, "pi-gateway.jsonc"), JSON.stringify(CONFIG), { mode: 0o600 });
  using socket = listenForDatagrams(join(folder.path, "notify"));
  void socket;
  const packages = createPackages(folder.path);
  const port = await freePort();
  const dice = chance.fork("supervisor");
  await using gateway = supervise({
    command: ["/bin/sh", packages.launcher, "start", "--home", home, "--port", String(port)],
    home,
    path: packages.bin,
    notifySocket: () => (dice.hits(0.5) ? join(folder.path, "notify") : undefined),
  });
  const url = `http://127.0.0.1:${port}`;
  const world: World = {
    home,
    url,
    packages,
    gateway,
    chance,
    calm,
    version: "1.0.0",
    migrations: 0,
    updateMs: FIRST_UPDATE_MS,
  };
  if ((await servingVersion(world)) === null) throw new Error(`the gateway did not start: ${gateway.said()}`);
  const played: Round[] = [];
  const problems: string[] = [];
  let acknowledged: ReadonlySet<string>;
  {
    await using clients = startClients(home, url, CLIENTS);
    ({ acknowledged } = clients);
    for (let round = 1; round <= rounds; round++) {
      const one = await playRound(world, round);
      played.push(one);
      const { lost } = checkRows(home, new Set(clients.acknowledged));
      onRound?.(`round ${round}: ${one.line}${lost.length > 0 ? `, LOST ${lost.join(" ")}` : ""}`);
      if (one.served === "old" || one.served === "new") continue;
      problems.push(`round ${round}: ${one.line}\n${gateway.said().slice(-2_000)}`);
      if (one.served === "none") break;
    }
  }
  return { ...totals(played), ...checkRows(home, acknowledged), acknowledged: acknowledged.size, problems };
}

function totals(rounds: readonly Round[]): Omit<UpdateKillsReport, "lost" | "doubled" | "acknowledged" | "problems"> {
  const count = (fits: (round: Round) => boolean): number => rounds.filter(fits).length;
  const kills = (target: Target): number => count((round) => round.target === target);
  return {
    rounds: rounds.length,
    kills: {
      nobody: kills("nobody"),
      update: kills("update"),
      gateway: kills("gateway"),
      "its shell": kills("its shell"),
      everything: kills("everything"),
    },
    servedOld: count(({ served }) => served === "old"),
    servedNew: count(({ served }) => served === "new"),
    flawed: count(({ flaw }) => flaw !== "none"),
    slowestMs: Math.max(0, ...rounds.map(({ ms }) => Math.round(ms))),
  };
}

async function playRound(world: World, round: number): Promise<Round> {
  const { chance, packages, home } = world;
  const flaw: Flaw = chance.hits(FLAWED) ? chance.pick(["broken", "fails late"]) : "none";
  const migrations = world.migrations + (chance.hits(MIGRATES) ? 1 : 0);
  const next = `1.${round}.0`;
  const target = world.calm ? "nobody" : chance.pick(TARGETS);
  const aimed = chance.hits(AIMED);
  const delayMs = Math.round(chance.next() * (aimed ? AIMED_MS : world.updateMs));
  const file = packages.pack({ version: next, migrations, flaw });
  const startedAt = performance.now();
  const update = Bun.spawn(["/bin/sh", packages.launcher, "update", "--from", file, "--home", home], {
    cwd: home,
    env: { HOME: process.env["HOME"] ?? "", PATH: `${packages.bin}:${process.env["PATH"]}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = Promise.all([new Response(update.stdout).text(), new Response(update.stderr).text()]);
  if (target !== "nobody") {
    if (aimed) await untilSwitch(home, update);
    await systemClock.sleep(delayMs, NEVER);
    strike(world, target, update.pid);
  }
  const struckAt = performance.now();
  const first = await servingVersion(world); // the promise: somebody serves, also while the update goes on
  const ms = performance.now() - struckAt;
  const code = await endOf(update);
  if (code === 0 && target === "nobody") world.updateMs = performance.now() - startedAt;
  const version = first === null ? null : await settledVersion(world);
  const served = judge({ version, before: world.version, next, flaw });
  const [out, errors] = await said;
  const words = (out.trim() || errors.trim()).replaceAll("\n", " ");
  const line = `${flaw === "none" ? "" : `${flaw}, `}${migrations > world.migrations ? "with new tables, " : ""}${target} killed ${delayMs} ms after the ${aimed ? "switch" : "begin"}, ${version} serves after ${Math.round(ms)} ms (${words})`;
  if (served === "new") Object.assign(world, { version: next, migrations });
  return { target, flaw, served, ms, line };
}

/** Until the update has switched, or has ended without that. */
async function untilSwitch(home: string, update: Bun.Subprocess): Promise<void> {
  const isDone = (): boolean => update.exitCode !== null || existsSync(join(home, "versions", "trial"));
  await waitFor("the switch", isDone, Boolean, { withinMs: UPDATE_MS });
}

function strike({ gateway }: World, target: Target, updatePid: number): void {
  if (target === "update" || target === "everything") killHard(updatePid);
  if (target === "gateway" || target === "everything") gateway.kill("serving");
  if (target === "its shell" || target === "everything") gateway.kill("started");
}

/** An update whose gateway was killed may wait for it for a while; the next round must not meet it. */
async function endOf(update: Bun.Subprocess): Promise<number | null> {
  const code = await Promise.race([update.exited, systemClock.sleep(UPDATE_MS, NEVER).then(() => null)]);
  if (code === null) killHard(update.pid);
  return code;
}

function judge(seen: { version: string | null; before: string; next: string; flaw: Flaw }): Round["served"] {
  if (seen.version === null) return "none";
  if (seen.version === seen.before) return "old";
  return seen.version === seen.next && seen.flaw === "none" ? "new" : "wrong";
}

/** Null: none is ready within the time that is promised. */
async function servingVersion({ home, url }: Pick<World, "home" | "url">): Promise<string | null> {
  const version = waitFor("a gateway", () => versionNow(home, url), Boolean, { withinMs: SERVES_WITHIN_MS });
  return version.catch(() => null); // the caller says what that means
}

/** When no switch is under way any more: which version it is. */
async function settledVersion(world: World): Promise<string | null> {
  const isSettled = (): boolean => !existsSync(join(world.home, "versions", "trial"));
  await waitFor("the end of the switch", isSettled, Boolean, { withinMs: SETTLES_WITHIN_MS }).catch(() => null); // told by what serves
  return servingVersion(world);
}

async function versionNow(home: string, url: string): Promise<string | null> {
  try {
    const ready = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(1_000) });
    if (!ready.ok) return null;
    const token = (await Bun.file(join(home, "token")).text()).trim();
    const status = await fetch(`${url}/api/status`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(1_000),
    });
    return ((await status.json()) as { readonly version: string }).version;
  } catch {
    return null; // not there yet
  }
}
