/**
 * Chaos over WebChat: real gateway, real pi, kill -9 at random points of a turn. After every round the messages that were accepted must end
 * in exactly one visible reply each, in order. The kill follows the n-th frame a client sees, or falls right after the n-th write of a kind
 * to the database, which is where a lost or doubled reply would come from.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import { createChatClient, type ChatClient } from "./chat-client.ts";
import { type GatewayProcess, startGatewayProcess } from "./gateway-process.ts";
import { type KillAt, killAt, MOMENTS } from "./kill-at.ts";
import { tempHome } from "../temp-home.ts";

export interface ChaosOptions {
  readonly gatewayKills: number;
  readonly agentKills: number;
  /** The same seed makes the same choices; when exactly a process dies is still the machine's affair. */
  readonly seed: number;
  onRound?(line: string): void;
}

export interface ChaosReport {
  readonly rounds: number;
  readonly messages: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly outOfOrder: number;
  /** Kills that fell into a running turn; the others hit before it began or after it had ended. */
  readonly inTurn: number;
}

const SESSION = "agent:default:webchat:dm:chaos";
const MESSAGES_PER_ROUND = 2;
const WORDS = "the quick brown fox jumps over the lazy dog";
/** A turn for each message, so that each has a reply of its own to be counted. */
const ONE_BY_ONE = { queue: { mode: "followup" } };
const MAX_FRAME = 14;
/** Far longer than a restart and two short turns take. */
const PATIENCE_MS = 30_000;
/** Most kills of a gateway aim at a write; the others fall anywhere. */
const AIMED = 0.7;

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const chance = seeded(options.seed);
  await using home = await tempHome();
  const world: World = {
    home: home.path,
    client: createChatClient(SESSION),
    gateway: await startGatewayProcess({ home: home.path, config: ONE_BY_ONE }),
    chance,
  };
  const { client } = world;
  const plan = [
    ...Array<Victim>(options.gatewayKills).fill("gateway"),
    ...Array<Victim>(options.agentKills).fill("agent"),
  ];
  const sent: string[] = [];
  let inTurn = 0;
  try {
    await client.connect(world.gateway.url, world.gateway.token);
    for (const [round, victim] of plan.entries()) {
      const texts = Array.from({ length: MESSAGES_PER_ROUND }, (_, n) => `echo: ${round}.${n} ${WORDS}`);
      sent.push(...texts);
      const { when, unanswered, healed } = await strike(world, victim, texts);
      if (unanswered) inTurn++;
      options.onRound?.(
        `round ${round + 1}: ${victim} killed ${when}${healed ? "" : ", and not everything was answered"}`,
      );
      if (!healed) break;
    }
    return { rounds: plan.length, messages: sent.length, inTurn, ...(await verdict(world.gateway, sent)) };
  } finally {
    client.disconnect();
    await world.gateway.stop();
  }
}

type Victim = "gateway" | "agent";

interface World {
  readonly home: string;
  readonly client: ChatClient;
  gateway: GatewayProcess;
  readonly chance: () => number;
}

interface Strike {
  readonly when: string;
  /** The kill came before everything was answered. */
  readonly unanswered: boolean;
  /** Afterwards everything was answered. */
  readonly healed: boolean;
}

/** Sends, kills in between, brings back what was killed, and waits until everything is answered. */
async function strike(world: World, victim: Victim, texts: readonly string[]): Promise<Strike> {
  const { client, chance } = world;
  const aimed = victim === "gateway" && chance() < AIMED;
  const moment = MOMENTS[Math.floor(chance() * MOMENTS.length)] ?? "ended";
  const nth = 1 + Math.floor(chance() * (aimed ? MESSAGES_PER_ROUND : MAX_FRAME));
  using trap: KillAt | null = aimed
    ? killAt({ database: join(world.home, "gateway.db"), pid: world.gateway.pid, moment, nth })
    : null;
  await trap?.armed;
  const due = trap ? trap.killed : nthFrame(client, nth);
  const accepted = Promise.all(texts.map((text) => client.send(text)));
  await Promise.race([due, accepted.then(() => client.until(answered(texts)))]);
  const unanswered = !answered(texts)(client.shown);
  if (victim === "agent") killAgents(world.home);
  else await restart(world);
  using patience = systemClock.deadline(PATIENCE_MS, () => new Error("not answered in time"));
  const healed = await orAborted(
    accepted.then(() => client.until(answered(texts))),
    patience.signal,
  ).then(
    () => true,
    () => false,
  );
  return { healed, when: aimed ? `right after write "${moment}" ${nth}` : `after frame ${nth}`, unanswered };
}

async function restart(world: World): Promise<void> {
  await world.gateway.kill();
  world.client.disconnect();
  world.gateway = await startGatewayProcess({ home: world.home, config: ONE_BY_ONE });
  await world.client.connect(world.gateway.url, world.gateway.token);
}

/** What a fresh client sees at the end is what counts. */
async function verdict(
  gateway: GatewayProcess,
  sent: readonly string[],
): Promise<Pick<ChaosReport, "lost" | "doubled" | "outOfOrder">> {
  const replies: string[] = [];
  for (let cursor: string | undefined; ;) {
    const query = new URLSearchParams({ limit: "200", ...(cursor ? { cursor } : {}) });
    const response = await gateway.fetch(`/api/sessions/${encodeURIComponent(SESSION)}/transcript?${query}`);
    const page = (await response.json()) as { items: { role: string; text: string }[]; next?: string };
    replies.unshift(...page.items.filter(({ role }) => role === "assistant").map(({ text }) => text));
    if (!page.next) break;
    cursor = page.next;
  }
  const expected = sent.map((text) => text.replace("echo: ", ""));
  const count = (text: string) => replies.filter((reply) => reply === text).length;
  const order = replies.map((reply) => expected.indexOf(reply));
  return {
    lost: expected.filter((text) => count(text) === 0),
    doubled: [...expected.filter((text) => count(text) > 1), ...replies.filter((reply) => !expected.includes(reply))],
    outOfOrder: order.filter((place, at) => at > 0 && place < (order[at - 1] ?? 0)).length,
  };
}

const answered = (texts: readonly string[]) => (shown: ChatClient["shown"]) =>
  texts.every((text) =>
    shown.some(({ role, text: reply }) => role === "assistant" && reply === text.replace("echo: ", "")),
  );

function nthFrame(client: ChatClient, nth: number): Promise<void> {
  return new Promise((resolve) => {
    let frames = 0;
    client.onFrame = () => {
      if (++frames === nth) resolve();
    };
  });
}

function killAgents(home: string): void {
  for (const file of readdirSync(join(home, "run", "agents"))) {
    const pid = Number.parseInt(file, 10);
    if (Number.isInteger(pid)) process.kill(pid, "SIGKILL");
  }
}

/** A small generator with a seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
