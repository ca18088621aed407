/**
 * Chaos over WebChat: real gateway, real pi, kill -9 at random points of a turn. After every round the messages that were accepted must end
 * in exactly one visible reply each, in order. The kill follows the n-th thing that happens (a frame to the client, or a write of the
 * database's log), so that it also falls between two writes, where a lost or doubled reply would come from.
 */
import { readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { createChatClient, type ChatClient } from "./chat-client.ts";
import { type GatewayProcess, startGatewayProcess } from "./gateway-process.ts";
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
const MAX_MOMENT = { frame: 14, write: 10 } as const;

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const chance = seeded(options.seed);
  await using home = await tempHome();
  const client = createChatClient(SESSION);
  let gateway = await startGatewayProcess({ home: home.path });
  let inTurn = 0;
  const sent: string[] = [];
  try {
    await client.connect(gateway.url, gateway.token);
    const plan = [
      ...Array<"gateway">(options.gatewayKills).fill("gateway"),
      ...Array<"agent">(options.agentKills).fill("agent"),
    ];
    for (const [round, victim] of plan.entries()) {
      const texts = Array.from({ length: MESSAGES_PER_ROUND }, (_, n) => `echo: ${round}.${n} ${WORDS}`);
      const moment = victim === "gateway" && chance() < 0.6 ? "write" : "frame";
      const nth = 1 + Math.floor(chance() * MAX_MOMENT[moment]);
      const due = moment === "write" ? nthWrite(home.path, nth) : nthFrame(client, nth);
      sent.push(...texts);
      const accepted = Promise.all(texts.map((text) => client.send(text)));
      await Promise.race([due, accepted.then(() => client.until(answered(texts)))]);
      if (!answered(texts)(client.shown)) inTurn++;
      if (victim === "gateway") {
        await gateway.kill();
        client.disconnect();
        gateway = await startGatewayProcess({ home: home.path });
        await client.connect(gateway.url, gateway.token);
      } else killAgents(home.path);
      await accepted;
      await client.until(answered(texts));
      options.onRound?.(`round ${round + 1}: ${victim} killed after ${moment} ${nth}`);
    }
    return { rounds: plan.length, messages: sent.length, inTurn, ...(await verdict(gateway, sent)) };
  } finally {
    client.disconnect();
    await gateway.stop();
  }
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

function nthWrite(home: string, nth: number): Promise<void> {
  return new Promise((resolve) => {
    let writes = 0;
    const watcher = watch(join(home, "gateway.db-wal"), () => {
      if (++writes < nth) return;
      watcher.close();
      resolve();
    });
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
