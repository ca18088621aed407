/**
 * Some gateways on one Postgres database, people who write to whichever they reach, and faults drawn at random. In the end everything that was
 * acknowledged has one answer, in order, and no session had two turns at once.
 */
import { availableParallelism, loadavg } from "node:os";
import { type Chance, createChance } from "../../src/testing/chance.ts";
import { type FakeReply, type ProviderRequest, says, startFakeProvider } from "../../src/testing/fake-provider.ts";
import { waitFor } from "../../src/testing/wait-for.ts";
import { wordsOf } from "../../src/testing/worlds/model-words.ts";
import { isClean as isCleanPlatform, type PlatformVerdict } from "../chaos/platforms/verdict.ts";
import { startChats } from "./chats.ts";
import { keepEvidence } from "./evidence.ts";
import { FAULTS, type Fault, leftOut, pickNode, type Stage, strike } from "./faults.ts";
import { countFailures, describeOpenWork, openWork, readHistory, recordChanges } from "./history.ts";
import { openNetwork } from "./network.ts";
import { hasPoison, startPeople } from "./people.ts";
import { createTroubles, type TakeoverTimes, watchTakeovers } from "./takeovers.ts";
import type { Times } from "./times.ts";
import { isClean, judgeNodes, type Model, type NodesVerdict } from "./verdict.ts";
import { type NodesWorld, openNodesWorld } from "./world.ts";

export interface NodesOptions {
  readonly nodes: number;
  readonly faults: number;
  readonly sessions: number;
  /** In each session at least so many, and more until the faults are over. */
  readonly messages: number;
  readonly seed: number;
  /** The negative control: the database refuses no write of a gateway from which another one has taken over. */
  readonly unfenced?: boolean;
  readonly only?: readonly Fault[];
  /** Between two faults: at least, and at most. */
  readonly gapMs?: Span;
  /** No fault begins after so long. Left out: all of them begin. */
  readonly faultsForMs?: number;
  /** So many last at the same time at most. */
  readonly atOnce?: number;
  /** Between two messages of a session: at least, and at most. */
  readonly pauseMs?: Span;
  /** So many messages of a session may wait; what comes in a chat beyond that is overflow. */
  readonly maxWaiting?: number;
  /** Where the rows, the calls to the platform and the logs are put when something is wrong. Left out: nowhere. */
  readonly keepIn?: string;
  /** In the end, everything is waited for until nothing has ended for so long. */
  readonly settleMs?: number;
  onLine?(line: string): void;
}

type Span = readonly [number, number];

interface Struck {
  readonly struck: number;
  /** Seen to have had an effect. */
  readonly bit: number;
}

export interface NodesReport extends NodesVerdict {
  readonly faults: Readonly<Partial<Record<Fault, Struck>>>;
  /** Kinds that this machine cannot put to gateways, and why. */
  readonly leftOut: Readonly<Partial<Record<Fault, string>>>;
  readonly messages: number;
  readonly acknowledged: number;
  readonly takeovers: TakeoverTimes;
  /** Why turns ended with words of the gateway itself, by code of error. */
  readonly failures: Readonly<Record<string, number>>;
  /** What people saw in their chats on a platform. */
  readonly chats: PlatformVerdict;
  /** How long it took until what they said there was taken by a gateway. */
  readonly heard: Times;
  /** Of the machine, with how many processors: the load of one minute, each minute. */
  readonly load: Load;
  /** From the last fault until everything was answered, or nothing went on any more. */
  readonly settledSeconds: number;
  readonly seconds: number;
}

const SETTLE_MS = 60_000;
/** Of all that comes to rest: longer than the slowest machine needs, and not for ever. */
const MAX_SETTLE_MS = 1_200_000;
const TOLD_EVERY_MS = 15_000;
const GAP_MS: Span = [300, 3_000];
const PAUSE_MS: Span = [50, 2_500];
const CHAT_PAUSE_MS: Span = [1_000, 15_000];
const THINK_MS: Span = [20, 1_500];
const AT_ONCE = 3;
const MAX_WAITING = 100;
const LOAD_EVERY_MS = 60_000;

/** As `flow/prompt` tells a model of overflow. */
const MODEL: Model = {
  answerTo: (text) => `answer to: ${text}`,
  heardIn: (answer) => ({
    texts: answer.match(/\b\w+ says \d+(?:, which is poison)?/g) ?? [],
    overflow: Number(/\((\d+) more messages? came while too many were waiting/.exec(answer)?.[1] ?? 0),
  }),
};

interface Load {
  readonly processors: number;
  readonly least: number;
  readonly most: number;
}

export const isCleanReport = (report: NodesReport): boolean =>
  isClean(report) && isCleanPlatform(report.chats) && report.takeovers.late.length === 0;

export async function runNodes(options: NodesOptions): Promise<NodesReport> {
  const startedAt = performance.now();
  const onLine = options.onLine ?? (() => undefined);
  const chance = createChance(options.seed);
  const model = createModel(chance.fork("thinking"));
  await using opened = new AsyncDisposableStack();
  const network = await openNetwork(options.nodes);
  const noNetwork = typeof network === "string" ? network : null;
  const host = typeof network === "string" ? "127.0.0.1" : opened.use(network).front;
  const provider = opened.use(await startFakeProvider(model.reply, host));
  let faultsSoFar = 0;
  const talking = { host, chance: chance.fork("chats"), pauseMs: CHAT_PAUSE_MS, model: MODEL };
  const chats = opened.use(await startChats({ ...talking, faultsSoFar: () => faultsSoFar }));
  const config = {
    queue: { mode: "followup", maxPerSession: options.maxWaiting ?? MAX_WAITING },
    agent: { model: "fake/fake-1", pool: { min: 2, max: 3, reuse: "profile" } },
    models: {
      providers: { fake: { baseUrl: provider.baseUrl, apiKey: "a-key-for-tests-5521", models: [{ id: "fake-1" }] } },
    },
    channels: chats.channels,
  };
  const places = { count: options.nodes, network: typeof network === "string" ? null : network };
  const world = opened.use(await openNodesWorld({ ...places, config, onLine }));
  await recordChanges(world);
  if (options.unfenced) await world.sql.unsafe("alter table batches disable trigger batches_superseded");
  const pauseMs = options.pauseMs ?? PAUSE_MS;
  const people = startPeople(world, { ...options, pauseMs, chance: chance.fork("people") });
  chats.begin();
  const troubles = createTroubles();
  const watch = watchTakeovers(world, troubles);
  using load = watchLoad();
  const stage = { world, people, chats, sessions: options.sessions, poisonAsked: model.poisonAsked, troubles };
  const missing = leftOut(world, noNetwork);
  for (const [fault, why] of Object.entries(missing)) onLine(`left out: ${fault}, because ${why}`);
  const kinds = (options.only ?? FAULTS).filter((fault) => missing[fault] === undefined);
  const faults = await playFaults(stage, options, {
    kinds: kinds as unknown as readonly [Fault, ...Fault[]],
    chance: chance.fork("faults"),
    onLine,
    onFault: () => void faultsSoFar++,
  });
  await world.heal();
  onLine("everything is mended");
  const mendedAt = performance.now();
  people.finish();
  await chats.stop();
  await settle({ world, onLine, withinMs: options.settleMs ?? SETTLE_MS }, () => people.isDone() && chats.isHeard());
  const settledSeconds = Math.round((performance.now() - mendedAt) / 1_000);
  await people.stop();
  const history = await readHistory(world, [...people.sent, ...chats.sent()]);
  const report: NodesReport = {
    faults,
    leftOut: missing,
    messages: history.sent.length,
    acknowledged: history.sent.filter(({ acknowledgedAt }) => acknowledgedAt !== null).length,
    takeovers: await watch.stop(),
    failures: await countFailures(world),
    chats: chats.verdict(history),
    heard: chats.heard(),
    load: load.seen(),
    settledSeconds,
    ...judgeNodes(history, MODEL),
    seconds: Math.round((performance.now() - startedAt) / 1_000),
  };
  if (options.keepIn !== undefined && !isCleanReport(report)) {
    const platform = chats.evidence();
    await keepEvidence(world, { folder: options.keepIn, platform, troubles: troubles.all(), history });
    onLine(`what there is about it is in ${options.keepIn}`);
  }
  return report;
}

function watchLoad(): Disposable & { seen(): Load } {
  const seen: number[] = [];
  const look = (): void => void seen.push(Math.round((loadavg()[0] ?? 0) * 10) / 10);
  look();
  const timer = setInterval(look, LOAD_EVERY_MS);
  return {
    seen: () => ({ processors: availableParallelism(), least: Math.min(...seen), most: Math.max(...seen) }),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Thinks for a while and answers; what is poisoned it can never answer to the end. */
function createModel(thinking: Chance) {
  let poisonAsked = 0;
  return {
    poisonAsked: () => poisonAsked,
    reply({ messages }: ProviderRequest): FakeReply {
      const words = wordsOf(messages.findLast(({ role }) => role === "user")?.content);
      if (hasPoison(words)) {
        poisonAsked++;
        return { kind: "cut", pieces: ["answer"] };
      }
      return says("answer", new Promise((done) => setTimeout(done, thinking.between(...THINK_MS))), ` to: ${words}`);
    },
  };
}

interface Settling {
  readonly world: NodesWorld;
  readonly withinMs: number;
  onLine(line: string): void;
}

/** Until everything was accepted and answered, or nothing has ended for a while. What is left then is described, and judged like all else. */
async function settle({ world, withinMs, onLine }: Settling, isAccepted: () => boolean): Promise<void> {
  const until = (what: string, look: () => unknown, forMs: number) =>
    waitFor(what, look, Boolean, { withinMs: forMs }).catch((error: unknown) => onLine(String(error)));
  let ended = -1;
  let movedAt = performance.now();
  let toldAt = -Infinity;
  const isAtRest = async (): Promise<boolean> => {
    const now = await openWork(world);
    if (now.ended !== ended) movedAt = performance.now();
    ended = now.ended;
    if (performance.now() - toldAt > TOLD_EVERY_MS) {
      toldAt = performance.now();
      onLine(`${now.open} things are open, ${now.ended} have ended`);
    }
    return (now.open === 0 && isAccepted()) || performance.now() - movedAt > withinMs;
  };
  await until("everything to be accepted and answered, or nothing to go on", isAtRest, MAX_SETTLE_MS);
  if (!isAccepted()) onLine("not everything was accepted");
  if ((await openWork(world)).open > 0) await describeOpenWork(world, onLine);
}

interface Playing {
  readonly kinds: readonly [Fault, ...Fault[]];
  readonly chance: Chance;
  onLine(line: string): void;
  onFault(): void;
}

/** One fault after the other; those that last overlap with the next. */
async function playFaults(
  stage: Stage,
  { faults: count, faultsForMs = Infinity, gapMs = GAP_MS, atOnce = AT_ONCE }: NodesOptions,
  { kinds, chance, onLine, onFault }: Playing,
): Promise<NodesReport["faults"]> {
  const struck: Partial<Record<Fault, Struck>> = {};
  const note = (fault: Fault, more: Struck): void => {
    const before = struck[fault] ?? { struck: 0, bit: 0 };
    struck[fault] = { struck: before.struck + more.struck, bit: before.bit + more.bit };
  };
  const lasting = new Set<Promise<void>>();
  const endsAt = performance.now() + faultsForMs;
  for (let at = 0; at < count && performance.now() < endsAt; at++) {
    const fault = chance.pick(kinds);
    onFault();
    const own = chance.fork(`fault ${at}`);
    const node = pickNode(stage.world, own);
    const what = `${at + 1} of ${count}: ${fault} (${node.name})`;
    onLine(what);
    const over = strike(stage, fault, { node, chance: own }).then((bit) => {
      lasting.delete(over);
      note(fault, { struck: 1, bit: bit ? 1 : 0 });
      if (!bit) onLine(`${what} did not bite`);
    });
    lasting.add(over);
    if (lasting.size >= atOnce) await Promise.race(lasting);
    await stage.world.pause(chance.between(...gapMs));
  }
  await Promise.all(lasting);
  return struck;
}
