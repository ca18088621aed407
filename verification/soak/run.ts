/**
 * A real gateway with real pi and the demo model, used for minutes or hours as people use it: conversations that begin, go on and are deleted, streams that break
 * off, sockets that come and go, tool calls, looks at every list. Meanwhile memory, descriptors and files are measured.
 */
import { Database } from "bun:sqlite";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { rssMb } from "../../scripts/bench/parts/process-cost.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { createChatClient } from "../../src/testing/whole/chat-client.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { type Finding, judge, type Sample } from "./verdict.ts";

interface SoakOptions {
  readonly minutes: number;
  onSample?(sample: Sample): void;
}

export interface SoakReport {
  readonly minutes: number;
  readonly turns: number;
  readonly failed: number;
  readonly findings: readonly Finding[];
}

const CLIENTS = 3;
const TURNS_OF_A_SESSION = 6;
const PAUSE_MS = 150;
/** So often something is measured, in all. */
const SAMPLES = 120;
const SHORTEST_MS = 1_000;
const LISTS = [
  "/api/status",
  "/api/sessions",
  "/api/activity",
  "/api/turns",
  "/api/metrics",
  "/metrics",
  "/api/agents",
];
const CONFIG = { agent: { pool: { min: 1, max: 2 } }, logging: { level: "warn" } };

interface Work {
  turns: number;
  failed: number;
}

export async function runSoak({ minutes, onSample }: SoakOptions): Promise<SoakReport> {
  await using gateway = await startGatewayProcess({ config: CONFIG });
  const over = new AbortController();
  const work: Work = { turns: 0, failed: 0 };
  const clients = Array.from({ length: CLIENTS }, (_, client) =>
    beClient(gateway, client, { work, over: over.signal }),
  );
  const samples: Sample[] = [];
  const lengthMs = minutes * 60_000;
  const everyMs = Math.max(SHORTEST_MS, lengthMs / SAMPLES);
  const startedAt = systemClock.elapsed();
  try {
    for (let at = 1; systemClock.elapsed() - startedAt < lengthMs; at++) {
      await systemClock.sleep(Math.max(0, startedAt + at * everyMs - systemClock.elapsed()), over.signal);
      const sample = await measure(gateway, { ms: systemClock.elapsed() - startedAt, turns: work.turns });
      samples.push(sample);
      onSample?.(sample);
    }
  } finally {
    over.abort();
    await Promise.all(clients);
  }
  return { minutes, turns: work.turns, failed: work.failed, findings: judge(samples) };
}

/** One conversation after the other, each deleted at its end. */
async function beClient(
  gateway: GatewayProcess,
  client: number,
  { work, over }: { readonly work: Work; readonly over: AbortSignal },
): Promise<void> {
  for (let number = 0; !over.aborted; number++) {
    const session = `agent:default:webchat:dm:soak-${client}-${number}`;
    const page = createChatClient(session, `soak-${client}-${number}`);
    await page.connect(gateway.url, gateway.token);
    for (let turn = 0; turn < TURNS_OF_A_SESSION && !over.aborted; turn++) {
      const before = page.shown.length;
      await page.send(`echo: ${client}.${number}.${turn} and some more words, so that there is something to stream`);
      await page.until((shown) => shown.length >= before + 2);
      work.turns++;
      await lookAround(gateway, turn, `hangs-up-${client}-${number}`);
      await systemClock.sleep(PAUSE_MS, over).catch(() => undefined); // the end of the soak ends the pause
    }
    page.disconnect();
    for (const key of [session, `agent:default:api:dm:hangs-up-${client}-${number}`]) {
      const { status } = await gateway.fetch(`/api/sessions/${encodeURIComponent(key)}`, { method: "DELETE" });
      if (status !== 200 && !over.aborted) work.failed++; // at the end of the soak a conversation may not have come so far
    }
  }
}

/** What consoles and programs ask for, one thing after each turn; also a tool call, and a stream whose reader hangs up. */
async function lookAround(gateway: GatewayProcess, turn: number, session: string): Promise<void> {
  const path = LISTS[turn % LISTS.length] ?? "/health";
  await (await gateway.fetch(path)).arrayBuffer();
  if (turn === 2) await callTool(gateway);
  if (turn === 3) await hangUp(gateway, session);
}

async function callTool(gateway: GatewayProcess): Promise<void> {
  const body = JSON.stringify({ tool: "search_notes", params: { query: "harbour" } });
  await gateway.fetch("/api/tools/call", { method: "POST", body, headers: { "content-type": "application/json" } });
}

async function hangUp(gateway: GatewayProcess, session: string): Promise<void> {
  const stream = await gateway.fetch("/api/chat", {
    method: "POST",
    body: JSON.stringify({ text: "/status", session }),
    headers: { "content-type": "application/json", accept: "text/event-stream" },
  });
  await stream.body?.cancel();
}

async function measure(gateway: GatewayProcess, so: Pick<Sample, "ms" | "turns">): Promise<Sample> {
  const { processes } = (await (await gateway.fetch("/api/agents")).json()) as {
    readonly processes: readonly { readonly pid: number | null }[];
  };
  const parents = parentsOfAll();
  const agents = processes.flatMap(({ pid }) => (pid === null ? [] : [treeSize(pid, parents)]));
  const { databaseKb, logKb } = databaseSize(gateway.home);
  return {
    ms: so.ms,
    turns: so.turns,
    gatewayMb: rssMb(gateway.pid),
    gatewayFiles: filesOf(gateway.pid),
    agentMb: Math.max(0, ...agents.map(({ mb }) => mb)),
    agentFiles: Math.max(0, ...agents.map(({ files }) => files)),
    agents: agents.length,
    databaseKb,
    logKb,
    files: readdirSync(gateway.home, { recursive: true }).length,
  };
}

function filesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** An agent is behind a wall: the process that is named is its outside, and pi is a child of it. */
function treeSize(pid: number, parents: ReadonlyMap<number, number>): { readonly mb: number; readonly files: number } {
  const tree = new Set([pid]);
  for (const [child, parent] of parents) if (tree.has(parent)) tree.add(child); // children have higher numbers, but for a wrap
  const sum = (look: (one: number) => number): number =>
    [...tree].reduce((all, one) => all + orZero(() => look(one)), 0);
  return { mb: Math.round(sum(rssMb)), files: sum(filesOf) };
}

/** By process, in the order of their numbers. */
function parentsOfAll(): ReadonlyMap<number, number> {
  const pids = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  return new Map(pids.toSorted((a, b) => a - b).map((pid) => [pid, orZero(() => parentOf(pid))]));
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** A process may end between being named and being looked at. */
function orZero(look: () => number): number {
  try {
    return look();
  } catch {
    return 0;
  }
}

function databaseSize(home: string): Pick<Sample, "databaseKb" | "logKb"> {
  const file = join(home, "gateway.db");
  const db = new Database(file, { readonly: true });
  try {
    const number = (pragma: string): number => Object.values(db.query(`pragma ${pragma}`).get() as object)[0] as number;
    const pages = number("page_count") - number("freelist_count");
    const log = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    return { databaseKb: Math.round((pages * number("page_size")) / 1_024), logKb: Math.round(log / 1_024) };
  } finally {
    db.close();
  }
}
