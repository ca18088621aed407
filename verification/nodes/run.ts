/**
 * Some gateways on one Postgres database, people who write to whichever they reach, and faults drawn at random. In the end everything that was
 * acknowledged has one answer, in order, and no session had two turns at once.
 */
import { type Chance, createChance } from "../../src/testing/chance.ts";
import { says, startFakeProvider } from "../../src/testing/fake-provider.ts";
import { waitFor } from "../../src/testing/wait-for.ts";
import { wordsOf } from "../../src/testing/worlds/model-words.ts";
import { FAULTS, type Fault, strike } from "./faults.ts";
import { startPeople } from "./people.ts";
import { type History, judgeNodes, type NodesVerdict, type SentMessage } from "./verdict.ts";
import { type NodesWorld, openNodesWorld } from "./world.ts";

export interface NodesOptions {
  readonly nodes: number;
  readonly faults: number;
  readonly sessions: number;
  readonly messages: number;
  readonly seed: number;
  /** The negative control: the database refuses no write of a gateway from which another one has taken over. */
  readonly unfenced?: boolean;
  readonly only?: readonly Fault[];
  /** Between two faults: at least, and at most. */
  readonly gapMs?: readonly [number, number];
  onLine?(line: string): void;
}

export interface NodesReport extends NodesVerdict {
  readonly faults: Readonly<Partial<Record<Fault, number>>>;
  readonly messages: number;
  readonly acknowledged: number;
  /** From the death of a gateway until another one had its work; of those that stayed away while the database was there. */
  readonly takeoverMs: { readonly count: number; readonly longest: number };
  readonly takenOver: number;
  readonly seconds: number;
}

const SETTLE_MS = 180_000;
const GAP_MS: readonly [number, number] = [300, 3_000];
const THINK_MS: readonly [number, number] = [20, 1_500];

const answerTo = (text: string): string => `answer to: ${text}`;

export async function runNodes(options: NodesOptions): Promise<NodesReport> {
  const startedAt = performance.now();
  const onLine = options.onLine ?? (() => undefined);
  const chance = createChance(options.seed);
  const thinking = chance.fork("thinking");
  await using provider = await startFakeProvider((request) => {
    const words = wordsOf(request.messages.findLast(({ role }) => role === "user")?.content);
    return says("answer", new Promise((done) => setTimeout(done, thinking.between(...THINK_MS))), ` to: ${words}`);
  });
  const config = {
    queue: { mode: "followup", maxPerSession: 100 },
    agent: { model: "fake/fake-1", pool: { min: 2, max: 3, reuse: "profile" } },
    models: {
      providers: { fake: { baseUrl: provider.baseUrl, apiKey: "a-key-for-tests-5521", models: [{ id: "fake-1" }] } },
    },
  };
  await using world = await openNodesWorld({ count: options.nodes, config, onLine });
  if (options.unfenced) await world.sql.unsafe("alter table batches disable trigger batches_superseded");
  const people = startPeople(world, { ...options, chance: chance.fork("people") });
  const watch = watchTakeovers(world);
  const faults = await playFaults(world, options, { chance: chance.fork("faults"), onLine });
  await world.heal();
  onLine("everything is mended");
  const settle = (what: string, look: () => unknown) =>
    waitFor(what, look, Boolean, { withinMs: SETTLE_MS }).catch((error: unknown) => onLine(String(error)));
  await settle("all messages to be accepted", people.isDone);
  await people.stop();
  await settle("all messages to be answered", async () => (await openWork(world)) === 0);
  if ((await openWork(world)) > 0) await describeOpenWork(world, onLine);
  const history = await readHistory(world, people.sent);
  const takeovers = await watch.stop();
  return {
    faults,
    messages: people.sent.length,
    acknowledged: people.sent.filter(({ acknowledgedAt }) => acknowledgedAt !== null).length,
    takeoverMs: { count: takeovers.length, longest: Math.max(0, ...takeovers.map(Math.round)) },
    takenOver: await countTakenOver(world),
    ...judgeNodes(history, answerTo),
    seconds: Math.round((performance.now() - startedAt) / 1_000),
  };
}

interface Playing {
  readonly chance: Chance;
  onLine(line: string): void;
}

/** One fault after the other; those that last overlap with the next. */
async function playFaults(
  world: NodesWorld,
  { faults: count, only, gapMs = GAP_MS }: NodesOptions,
  { chance, onLine }: Playing,
): Promise<NodesReport["faults"]> {
  const struck: Partial<Record<Fault, number>> = {};
  const kinds = (only ?? FAULTS) as readonly [Fault, ...Fault[]];
  const lasting = new Set<Promise<void>>();
  for (let at = 0; at < count; at++) {
    const fault = chance.pick(kinds);
    struck[fault] = (struck[fault] ?? 0) + 1;
    onLine(`${at + 1} of ${count}: ${fault}`);
    const over = strike(world, fault, chance.fork(`fault ${at}`)).then(() => void lasting.delete(over));
    lasting.add(over);
    if (lasting.size > 2) await Promise.race(lasting);
    await world.pause(chance.between(...gapMs));
  }
  await Promise.all(lasting);
  return struck;
}

async function openWork({ sql }: NodesWorld): Promise<number> {
  const [row] = await sql`
    select (select count(*) from inbox where done = 0) + (select count(*) from turns where state = 'running')
      + (select count(*) from outbox where ended_at is null) as open`;
  return Number(row.open);
}

/** For whoever has to find out why something was left. */
async function describeOpenWork({ sql, nodes }: NodesWorld, onLine: (line: string) => void): Promise<void> {
  const owners = await sql`
    select nodes.name, nodes.state, nodes.taken_over_by, count(inbox.id) as messages,
      (select count(*) from turns where turns.node = nodes.id and turns.state = 'running') as turns,
      (select count(*) from node_leases where owner = nodes.id) as leases
    from nodes left join inbox on inbox.node = nodes.id and inbox.done = 0 group by nodes.id order by nodes.started_at`;
  for (const row of owners as readonly Row[]) onLine(JSON.stringify(row));
  for (const node of nodes) {
    const token = node.process()?.token ?? "";
    const headers = { authorization: `Bearer ${token}` };
    const status = await fetch(`${node.url}/api/status`, { headers }).then((answer) => answer.text(), String);
    onLine(`${node.name} says: ${status}`);
    onLine(`${node.name} said: ${node.process()?.stderr().slice(-2_000) ?? "nothing"}`);
  }
}

async function countTakenOver({ sql }: NodesWorld): Promise<number> {
  const [row] = await sql`select count(*) as count from nodes where taken_over_by is not null`;
  return Number(row.count);
}

const sessionOf = (key: string): string => key.slice(key.lastIndexOf(":") + 1);

async function readHistory({ sql }: NodesWorld, sent: readonly SentMessage[]): Promise<History> {
  const messages = await sql`select session_key, text, turn_id from inbox order by seq`;
  const turns = await sql`select id, session_key, state, begun_at, ended_at from turns order by seq`;
  const replies = await sql`select turn_id, text, kind, state from outbox order by seq`;
  return {
    sent,
    messages: messages.map((row: Row) => ({
      session: sessionOf(String(row["session_key"])),
      text: String(row["text"]),
      turnId: row["turn_id"] === null ? null : String(row["turn_id"]),
    })),
    turns: turns.map((row: Row) => ({
      id: String(row["id"]),
      session: sessionOf(String(row["session_key"])),
      state: row["state"] as History["turns"][number]["state"],
      begunAt: Number(row["begun_at"]),
      endedAt: row["ended_at"] === null ? null : Number(row["ended_at"]),
    })),
    replies: replies.map((row: Row) => ({
      turnId: String(row["turn_id"]),
      text: String(row["text"]),
      isNotice: row["kind"] === "notice",
      isSent: row["state"] === "sent",
    })),
  };
}

type Row = Readonly<Record<string, unknown>>;

/** How long it takes until another gateway has the work of one that died, where nothing else is in the way. */
function watchTakeovers(world: NodesWorld): { stop(): Promise<readonly number[]> } {
  const stopping = new AbortController();
  const took: number[] = [];
  const seen = new Set<string>();
  let awayAt = performance.now();
  /** Never rejects. */
  const look = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      if (world.isDatabaseAway()) awayAt = performance.now();
      const rows = await world.sql`
        select id, floor(extract(epoch from clock_timestamp()) * 1000) - renewed_at as ms
        from nodes where taken_over_by is not null`.catch(() => []);
      for (const { id, ms } of rows as readonly { id: string; ms: string }[]) {
        if (seen.has(id)) continue;
        seen.add(id);
        if (performance.now() - awayAt > Number(ms) + LOOK_MS) took.push(Number(ms));
      }
      await world.pause(LOOK_MS);
    }
  };
  const looking = look();
  return {
    async stop() {
      stopping.abort();
      await looking;
      return took;
    },
  };
}

const LOOK_MS = 200;
