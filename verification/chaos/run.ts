/**
 * Chaos: a real gateway and real pi under many clients on the WebSocket and on HTTP, and kill -9 of either at random points. After every
 * round each acknowledged message must have exactly one visible answer, in order. A kill follows the n-th frame the crowd hears, falls
 * after some milliseconds, or right after the n-th write of a kind to the database, where a lost or doubled reply would come from.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { TranscriptItem } from "../../src/contracts/chat.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { orAborted } from "../../src/kit/deferred.ts";
import { type Chance, createChance } from "../../src/testing/chance.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { type Crowd, type CrowdSize, createCrowd } from "./crowd.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { killAt, type Moment, MOMENTS } from "../../src/testing/whole/kill-at.ts";
import { type Echo, startEcho } from "./platforms/echo.ts";
import type { PlatformName } from "./platforms/people.ts";
import { PLATFORM_MOMENTS, type PlatformCrowd, startPlatformCrowd } from "./platforms/platform-crowd.ts";
import type { PlatformVerdict } from "./platforms/verdict.ts";
import { judge, type Verdict } from "./verdict.ts";

export interface ChaosOptions {
  readonly rounds: number;
  /** The same seed makes the same choices; when exactly a process dies is still the machine's affair. */
  readonly seed: number;
  readonly crowd?: CrowdSize;
  /** People on a fake Telegram and a fake Discord join in, and those misbehave. */
  readonly channels?: boolean;
  /** The server that the gateway has its store on: it is killed and started again. Left out: it is not, and a store on SQLite has none. */
  readonly database?: ChaosDatabase | null;
  onRound?(line: string): void;
}

export interface ChaosReport extends Verdict {
  readonly rounds: number;
  readonly kills: { readonly gateway: number; readonly agents: number; readonly database: number };
  /** Kills after which somebody still waited for an answer; the others hit before anything was said, or after all of it was answered. */
  readonly inTurn: number;
  readonly messages: number;
  readonly acknowledged: number;
  /** Frames that came again under an id their client had, and dropped. */
  readonly repeats: number;
  readonly channels?: Readonly<Record<PlatformName, PlatformVerdict>>;
  /** What went wrong on the platforms, by kind. */
  readonly troubles?: Readonly<Record<string, number>>;
}

interface ChaosDatabase {
  /** Of the first server process, whose end is the end of all of them. */
  pid(): number;
  kill(): Promise<void>;
  start(): Promise<void>;
}

type Strike =
  "gateway" | "gateway twice" | "agent" | "all agents" | "agent, then gateway" | "database" | "database, then gateway";

const CROWD: CrowdSize = { pages: 6, programs: 6, sessions: 4 };
const SMALL_CROWD: CrowdSize = { pages: 2, programs: 2, sessions: 2 };
/** A turn for each message, so that each has a reply of its own to be counted; a pool that all sessions have to share. */
const CONFIG = { queue: { mode: "followup" }, agent: { pool: { min: 2, max: 2 } } };
const NEVER = new AbortController().signal;
const MAX_NTH = 8;
const MAX_FRAMES = 40;
const MAX_DELAY_MS = 500;
/** Far longer than a restart and some short turns take; where platforms ask for pauses, some of those too. */
const PATIENCE_MS = 45_000;
const PATIENCE_WITH_PLATFORMS_MS = 120_000;
/** Share of the kills of a gateway that aim at a write. */
const AIMED = 0.7;
/** How long the database stays away: at least, and at most. */
const AWAY_MS = [200, 4_000] as const;
/** Share of them that fall in a moment of a platform, where there is one. */
const AIMED_AT_PLATFORM = 0.5;

interface World {
  readonly home: string;
  readonly config: unknown;
  readonly crowd: Crowd;
  readonly platforms: PlatformCrowd | null;
  readonly chance: Chance;
  readonly kills: { gateway: number; agents: number; database: number };
  readonly database: ChaosDatabase | null;
  gateway: GatewayProcess;
  inTurn: number;
}

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const chance = createChance(options.seed);
  await using home = await tempHome();
  await using platforms = options.channels ? await startPlatformCrowd(chance.fork("platforms")) : null;
  await using echo = options.channels ? await startEcho() : null;
  using crowd = createCrowd(options.crowd ?? (platforms ? SMALL_CROWD : CROWD), chance.fork("crowd"));
  const config = configOf(platforms, echo);
  const gateway = await startGatewayProcess({ home: home.path, config });
  const counts = { kills: { gateway: 0, agents: 0, database: 0 }, inTurn: 0 };
  const played = { crowd, platforms, chance: chance.fork("kills"), database: options.database ?? null };
  const world: World = { ...counts, ...played, home: home.path, config, gateway };
  try {
    await found(world);
    await platforms?.greet();
    await playRounds(world, options);
    const sessions = new Set(crowd.said.map(({ session }) => session));
    const transcripts = new Map<string, readonly TranscriptItem[]>();
    for (const session of sessions) transcripts.set(session, await readTranscript(world.gateway, session));
    return {
      rounds: options.rounds,
      kills: world.kills,
      inTurn: world.inTurn,
      messages: crowd.said.length,
      acknowledged: crowd.said.filter(({ acknowledged }) => acknowledged).length,
      repeats: crowd.repeats(),
      ...judge(crowd.said, transcripts, crowd.shown()),
      ...(platforms ? { channels: await platforms.verdicts(world.gateway), troubles: platforms.met } : {}),
    };
  } finally {
    await world.gateway.stop();
  }
}

/** With platforms the model is one that can be slow, so that there is something to show while it writes. */
function configOf(platforms: PlatformCrowd | null, echo: Echo | null): unknown {
  if (!platforms || !echo) return CONFIG;
  const pool = { min: 3, max: 3, reuse: "profile" };
  return { ...CONFIG, ...echo.config(pool), channels: platforms.channels };
}

async function playRounds(world: World, { rounds, onRound }: ChaosOptions): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    const { strikes, healed } = await playRound(world, round);
    onRound?.(`round ${round}: ${strikes}${healed ? "" : ", and not everything was answered"}`);
    if (healed) continue;
    onRound?.(`the gateway says: ${await (await world.gateway.fetch("/api/status")).text()}`);
    return;
  }
}

async function found({ crowd, platforms, gateway }: World): Promise<void> {
  platforms?.found(gateway);
  await crowd.found(gateway);
}

function waiting({ crowd, platforms }: World): number {
  return crowd.waiting() + (platforms?.waiting() ?? 0);
}

/** Everybody speaks, something is killed in between and brought back, and everybody gets an answer. */
async function playRound(world: World, round: number): Promise<{ readonly strikes: string; readonly healed: boolean }> {
  const strike = world.chance.pick<Strike>([
    ...(["gateway", "gateway", "gateway", "gateway twice"] as const),
    ...(["agent", "agent", "all agents", "agent, then gateway"] as const),
    ...(world.database ? (["database", "database", "database, then gateway"] as const) : []),
  ]);
  using aim = await takeAim(world, victimOf(world, strike));
  const answered = Promise.all([world.crowd.speak(round), world.platforms?.speak(round)]).then(() => undefined);
  const strikes = await strikeWith(world, strike, aim, answered);
  const patienceMs = world.platforms ? PATIENCE_WITH_PLATFORMS_MS : PATIENCE_MS;
  using patience = systemClock.deadline(patienceMs, () => new Error("not answered in time"));
  const healed = await orAborted(answered, patience.signal).then(
    () => true,
    () => false, // the verdict says who still waits
  );
  return { strikes, healed };
}

/** Agents are not aimed at: which of them writes next is not known. */
function victimOf({ gateway, database }: World, strike: Strike): Victim {
  if (strike.startsWith("gateway")) return { pid: gateway.pid, moments: MOMENTS };
  return database && strike.startsWith("database") ? { pid: database.pid(), moments: MOMENTS } : NOBODY;
}

async function strikeWith(world: World, strike: Strike, aim: Aim, answered: Promise<void>): Promise<string> {
  await Promise.race([aim.due, answered]);
  const when = `killed ${aim.when}, ${waiting(world)} waiting`;
  if (strike === "agent" || strike === "all agents") {
    killAgents(world, strike === "all agents");
    return `${strike} ${when}`;
  }
  if (strike === "database") {
    await loseDatabase(world, () => undefined);
    world.crowd.lost(); // what was refused is offered again
    await found(world);
    return `${strike} ${when}`;
  }
  if (strike === "database, then gateway") await loseDatabase(world, () => world.gateway.kill());
  if (strike === "agent, then gateway") {
    killAgents(world, false);
    using next = await takeAim(world, NOBODY);
    await Promise.race([next.due, answered]);
  }
  await replaceGateway(world);
  if (strike !== "gateway twice") return `${strike} ${when}`;
  using next = await takeAim(world, { pid: world.gateway.pid, moments: ["begun", "ended", "sent"] }); // while it takes up what the first kill left behind
  await Promise.race([next.due, answered]);
  const again = `and again ${next.when}, ${waiting(world)} waiting`;
  await replaceGateway(world);
  return `gateway ${when}, ${again}`;
}

/** Kills it, and starts it again after a while in which something else may happen. */
async function loseDatabase(world: World, meanwhile: () => Promise<void> | undefined): Promise<void> {
  const { database, chance, kills } = world;
  if (!database) return;
  if (waiting(world) > 0) world.inTurn++;
  kills.database++;
  await database.kill();
  await systemClock.sleep(chance.between(...AWAY_MS), NEVER);
  await meanwhile();
  await database.start();
}

async function replaceGateway(world: World): Promise<void> {
  if (waiting(world) > 0) world.inTurn++;
  world.kills.gateway++;
  await world.gateway.kill();
  world.crowd.lost();
  world.gateway = await startGatewayProcess({ home: world.home, config: world.config });
  await found(world);
}

/** When the next kill falls. Taken before anybody speaks, so that the first write can be hit too. */
interface Aim extends Disposable {
  readonly due: Promise<unknown>;
  readonly when: string;
}

interface Victim {
  readonly pid: number;
  /** Kinds of writes that it is killed right after. */
  readonly moments: readonly Moment[];
}

const NOBODY: Victim = { pid: 0, moments: [] };

/** Most kills of a gateway or a database fall right after a write of one of these kinds; the others after some frames, or some milliseconds. */
async function takeAim(world: World, { pid, moments }: Victim): Promise<Aim> {
  const { home, chance, crowd, platforms } = world;
  const [first, ...others] = moments;
  if (first && platforms && chance.hits(AIMED_AT_PLATFORM)) {
    const moment = chance.pick(PLATFORM_MOMENTS);
    const nth = chance.between(1, MAX_NTH / 2);
    const trap = platforms.killAt(pid, moment, nth);
    return { due: trap.due, when: `while ${nth} was ${moment}`, [Symbol.dispose]: () => trap[Symbol.dispose]() };
  }
  if (first && chance.hits(AIMED)) {
    const moment = chance.pick([first, ...others]);
    const nth = chance.between(1, MAX_NTH);
    const trap = killAt({ home, pid, moment, nth });
    await trap.armed;
    const when = `right after write "${moment}" ${nth}`;
    return { due: trap.killed, when, [Symbol.dispose]: () => trap[Symbol.dispose]() };
  }
  const over = new AbortController();
  const dispose = () => over.abort(new Error("the moment has come"));
  const frames = chance.between(1, MAX_FRAMES);
  const ms = chance.between(0, MAX_DELAY_MS);
  if (chance.hits(0.5)) return { due: crowd.heard(frames), when: `after frame ${frames}`, [Symbol.dispose]: dispose };
  const due = systemClock.sleep(ms, over.signal).catch(() => undefined); // nobody waits for it any more
  return { due, when: `after ${ms} ms`, [Symbol.dispose]: dispose };
}

function killAgents(world: World, all: boolean): void {
  const pids = readdirSync(join(world.home, "run", "agents"))
    .map((file) => Number.parseInt(file, 10))
    .filter(Number.isInteger);
  const hit = pids.filter((pid, at) => (all || at === 0) && kills(pid)).length;
  world.kills.agents += hit;
  if (hit > 0 && waiting(world) > 0) world.inTurn++;
}

/** False: a note of a process that had ended already. */
function kills(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false; // there is no such process any more, which is the only way this fails
  }
}

async function readTranscript(gateway: GatewayProcess, session: string): Promise<readonly TranscriptItem[]> {
  const items: TranscriptItem[] = [];
  for (let cursor: string | undefined; ;) {
    const query = new URLSearchParams({ limit: "200", ...(cursor ? { cursor } : {}) });
    const response = await gateway.fetch(`/api/sessions/${encodeURIComponent(session)}/transcript?${query}`);
    if (response.status === 404) return items; // nothing of it was ever accepted
    const page = (await response.json()) as { items: TranscriptItem[]; next?: string };
    items.unshift(...page.items);
    if (!page.next) return items;
    cursor = page.next;
  }
}
