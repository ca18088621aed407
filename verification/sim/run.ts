/**
 * Plays one seed from the first word to the last reply: people talk, agents answer, things break, the process is killed and started again;
 * then all is calm, and within a simulated hour everything has to be at rest and every promise kept. The same seed plays the same again.
 */
import type { TurnId } from "../../src/contracts/ids.ts";
import { checkEnd, checkNow, openRows } from "./checker.ts";
import { blankDisk, type Trouble } from "../../src/testing/disk.ts";
import type { Count } from "./facts.ts";
import { type Life, startLife } from "./life.ts";
import type { SimOptions } from "./options.ts";
import { startPeople } from "./people.ts";
import { openWorld, settled, type World, type WorldOptions } from "./world.ts";

export interface SimResult {
  readonly seed: number;
  readonly options: SimOptions;
  /** Empty: every promise was kept. */
  readonly broken: readonly string[];
  readonly trace: readonly string[];
  /** The same for two runs of a seed, or the simulation itself is broken. */
  readonly hash: string;
  readonly counts: Readonly<Record<Count, number>>;
}

const HOUR_MS = 60 * 60 * 1_000;
const CALM_AFTER_MS = 20_000;
const MAX_DOWN_MS = 2_000;
const MAX_STEPS = 20_000;

/** `blank`: kept by whoever plays many, see `blankDisk`. */
export async function runSeed(
  seed: number,
  blank: Uint8Array = blankDisk(),
  about: WorldOptions = {},
): Promise<SimResult> {
  await using world = await openWorld(seed, blank, about);
  const { facts, time, options, database } = world;
  const gateway = keepRunning(world);
  planDisk(world);
  planStops(world, gateway);
  const calmAt = options.talkMs * 2 + CALM_AFTER_MS;
  time.at(calmAt, () => {
    world.calm = true;
    database.trouble = null;
    facts.note("calm");
  });

  let steps = 0;
  let checked = 0;
  do {
    await settled(world);
    if (facts.trace.length > checked) checkNow(world);
    checked = facts.trace.length;
  } while (facts.broken.length === 0 && ++steps < MAX_STEPS && time.step(calmAt + HOUR_MS));
  if (facts.broken.length === 0) await rest(world, gateway, steps);
  const hash = new Bun.CryptoHasher("sha256").update(facts.trace.join("\n")).digest("hex");
  return { seed, options, broken: facts.broken, trace: facts.trace, hash, counts: facts.counts };
}

/** Nothing is left to do, in memory or on the disk, and another start finds nothing either. */
async function rest(world: World, gateway: Gateway, steps: number): Promise<void> {
  const { facts, time } = world;
  const open = openRows(world);
  const waits = time.waiting() - (gateway.life?.pool.waits ?? 0);
  if (steps >= MAX_STEPS || open > 0 || waits > 0)
    facts.wrong(`no rest: ${open} rows are open, ${waits} waits are left after ${steps} steps`);
  const { life } = gateway;
  if (!life) return facts.wrong("no life at the end");
  const { waiting, running } = life.queue.stats();
  if (waiting + running > 0) facts.wrong(`the queue still holds ${waiting} waiting, ${running} running`);
  if (life.outbox.stats().pending > 0) facts.wrong("the outbox still holds parts");
  if (life.pool.open > 0) facts.wrong("an agent was never given back");
  if (life.pool.leftOver > 0) facts.wrong("processes that nobody needs are kept");
  checkEnd(world);
  const { length } = facts.arrivals;
  await life.stop();
  const next = await startLife(world, life.number + 1, () => undefined);
  await settled(world);
  if (!next || next.recovered.waiting > 0) facts.wrong("the next start finds work that was done");
  const more = time.waiting() - (next?.pool.waits ?? 0);
  if (facts.arrivals.length !== length || more > 0) facts.wrong("the next start does something again");
}

interface Gateway {
  readonly life: Life | null;
  /** A stop in good order, and a start after it. */
  restart(): Promise<void>;
}

/** Starts the gateway, and starts it again whenever it is gone. */
function keepRunning(world: World): Gateway {
  const { facts, time } = world;
  const chance = world.chance.fork("lives");
  let life: Life | null = null;
  let leaving: Life | null = null;
  let number = 0;

  const again = (): void => time.at(world.calm ? 1 : chance.between(1, MAX_DOWN_MS), () => void start());
  const start = async (): Promise<void> => {
    const mine = ++number;
    let died = false;
    const started = await startLife(world, mine, () => {
      died = true;
      if (life?.number === mine) planZombie(world, () => life, mine);
      if (life?.number === mine || number === mine) life = null;
      people.lifeEnded();
      again();
    });
    if (died) return;
    if (!started) return again();
    facts.note(
      `life ${mine} began: ${started.recovered.waiting} waiting, ${started.recovered.interrupted} interrupted`,
    );
    life = started;
    checkModes(world, started);
  };
  const people = startPeople(world, () => life);
  time.at(0, () => void start());
  return {
    get life() {
      return life;
    },
    async restart() {
      const old = life;
      if (!old?.alive || leaving === old) return;
      leaving = old;
      facts.counts.stops++;
      facts.note("stop asked for");
      await old.stop();
      facts.note("stopped");
      life = null;
      people.lifeEnded();
      again();
    },
  };
}

/** What waits when a life begins goes on as its session wants it. */
function checkModes({ facts, options }: World, { queue }: Life): void {
  for (const [key, mode] of facts.modes) {
    const found = queue.session(key, "");
    if (mode === "unknown" || found.waiting === 0) continue;
    if (found.mode !== (mode ?? options.mode)) facts.wrong(`${key} forgot its mode over a restart`);
  }
}

/** A process that was taken for dead and is not: it offers the end of its turn after somebody else has taken it over. */
function planZombie(world: World, life: () => Life | null, dead: number): void {
  const { facts, time, database } = world;
  const cut = facts.runs.filter((run) => run.life === dead && run.ending === null);
  const now = (id: TurnId) =>
    database.rows<{ attempt: number; state: string }>("select attempt, state from turns where id = ?", id)[0];
  for (const run of cut) {
    const haunt = async (): Promise<void> => {
      const turn = now(run.turnId);
      const reached = life();
      if (!reached?.alive || !turn || world.calm || database.trouble) return;
      if (turn.state === "running" && turn.attempt === run.attempt) return;
      facts.counts.zombies++;
      world.calls++;
      const { turnId, attempt } = run;
      const end = {
        turnId,
        attempt,
        outcome: "done",
        reply: [{ part: 0, message: { kind: "reply", text: "boo" } }],
      } as const;
      const more = { to: { channel: "safe", account: "default", chat: "x" }, model: "", settledBytes: 1, at: 1 };
      const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
      const written = await reached.store.turns.finish({ ...end, ...more, usage }).catch(() => null);
      world.calls--;
      if (written) facts.wrong(`attempt ${attempt} of ${turnId} wrote its end after it was taken over`);
    };
    for (const ms of [2_010, 2_050, 2_200, 5_000]) time.at(ms, () => void haunt());
  }
}

function planDisk({ options, chance, time, database, facts }: World): void {
  const dice = chance.fork("disk troubles");
  for (let count = 0; count < options.diskTroubles; count++) {
    const trouble = dice.pick<Trouble>(["begin", "commit", "statement", "read"]);
    const from = dice.between(0, options.talkMs * 2);
    time.at(from, () => {
      database.trouble = trouble;
      facts.note(`disk: ${trouble}`);
    });
    time.at(from + dice.between(1, 4_000), () => {
      database.trouble = null;
    });
  }
}

function planStops({ options, chance, time }: World, gateway: Gateway): void {
  const dice = chance.fork("stops");
  for (let count = 0; count < options.stops; count++)
    time.at(dice.between(0, options.talkMs * 2), () => void gateway.restart());
}
