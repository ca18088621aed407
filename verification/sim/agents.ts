/** Agents that answer, die, fail, hang, fall silent and call a tool that must not run twice, as chance has it. No process is started. */
import type { AgentEvent, AgentLease, AgentPool, LeaseRequest, PromptInput } from "../../src/contracts/agent.ts";
import { GatewayError } from "../../src/contracts/errors.ts";
import type { SessionKey, TurnId } from "../../src/contracts/ids.ts";
import type { Store } from "../../src/contracts/store.ts";
import type { Clock } from "../../src/kit/clock.ts";
import { type Deferred, deferred } from "../../src/kit/deferred.ts";
import { NO_USAGE } from "../../src/testing/fake-pool.ts";
import type { Chance } from "../../src/testing/chance.ts";
import type { Run } from "./facts.ts";
import { type Mortal, never, type World } from "./world.ts";

export type AgentEnding = "done" | "died" | "failed" | "hung" | "empty" | "aborted";

export interface SimPool extends AgentPool {
  readonly open: number;
  /** Waits that are its own affair and no work that is left over. */
  readonly waits: number;
  /** Processes at rest that nobody needs. */
  readonly leftOver: number;
  /** Whether an agent is at work in this session that nobody has asked to stop. */
  busyWith(sessionKey: SessionKey): boolean;
}

export interface PoolDeps {
  readonly world: World;
  readonly life: Mortal;
  readonly clock: Clock;
  readonly store: Pick<Store, "toolCalls">;
}

type Stream = AsyncGenerator<AgentEvent>;

const MODEL = "sim/one";

export function createSimPool(deps: PoolDeps): SimPool {
  const { world, life, clock } = deps;
  const { facts, options } = world;
  const chance = world.chance.fork(`agents ${life.number}`);
  const open = new Map<SessionKey, AbortSignal>();

  return {
    get open() {
      return open.size;
    },
    waits: 0,
    leftOver: 0,
    busyWith: (sessionKey) => open.get(sessionKey)?.aborted === false,
    processes: () => [],
    hasOpen: () => false,
    prepare: async () => ({ prepares: "nothing", because: "these agents need no process", over: Promise.resolve() }),
    models: async () => [],
    async lease(request, signal) {
      const { sessionKey, turnId } = request.caller;
      checkLease(deps, request, open);
      await clock.sleep(chance.between(0, 20), signal);
      if (!world.calm && chance.hits(options.agent.noLease)) {
        facts.leaseErrors.add(turnId);
        throw new GatewayError("agent_unavailable", "no agent, says the simulation");
      }
      open.set(sessionKey, signal);
      return leaseOf(deps, { request, chance: chance.fork(turnId), giveBack: () => void open.delete(sessionKey) });
    },
    stats: () => ({
      starting: 0,
      idle: options.agents - open.size,
      busy: open.size,
      waiting: 0,
      max: options.agents,
      maxBecause: "the simulation says so",
      model: MODEL,
      trouble: null,
    }),
    async [Symbol.asyncDispose]() {},
  };
}

export function checkLease({ world }: PoolDeps, request: LeaseRequest, open: ReadonlyMap<SessionKey, unknown>): void {
  const { facts, options } = world;
  const { sessionKey, turnId } = request.caller;
  if (open.has(sessionKey)) facts.wrong(`two agents at work in ${sessionKey}`);
  if (open.size >= options.agents) facts.wrong("more turns run than there are agents");
  if (facts.unsafe.has(turnId)) facts.wrong(`${turnId} is tried again after a tool that must not run twice`);
  const known = facts.settledBytes.get(sessionKey) ?? 0;
  const { settledBytes } = request;
  if (settledBytes !== known) facts.wrong(`${turnId} starts at byte ${settledBytes} of its session, not ${known}`);
}

export interface Leased {
  readonly request: LeaseRequest;
  readonly chance: Chance;
  giveBack(ending: Run["ending"] | "unused"): void | Promise<void>;
}

/** What is steered into a prompt lies here until the model is asked the next time, or the prompt ends. */
interface Ear {
  steer(input: PromptInput): Promise<"taken" | "too_late">;
  /** The model is asked again: what lies here is heard, unless chance has it that it is not. */
  listen(run: Run): void;
  close(): void;
}

function createEar({ world }: PoolDeps, chance: Chance): Ear {
  let said: { readonly text: string; readonly how: Deferred<"taken" | "too_late"> } | null = null;
  let over = false;
  return {
    async steer({ text }) {
      if (over || said) return "too_late";
      const how = deferred<"taken" | "too_late">();
      said = { text, how };
      world.told(text);
      return how.promise;
    },
    listen(run) {
      if (!said || (!world.calm && chance.hits(world.options.agent.deaf))) return;
      world.facts.note(`agent heard ${run.turnId} ${said.text.replaceAll("\n", " ")}`);
      run.heard.push(said.text);
      said.how.resolve("taken");
      said = null;
    },
    close() {
      over = true;
      said?.how.resolve("too_late");
    },
  };
}

export function leaseOf(deps: PoolDeps, leased: Leased): AgentLease {
  const { settledBytes } = leased.request;
  const ear = createEar(deps, leased.chance.fork("ear"));
  let run: Run | null = null;
  return {
    pid: 1,
    prompt(input, signal) {
      run = beginRun(deps, leased.request, input);
      return noting(deps, run, closing(ear, converse(deps, { ...leased, run, ear }, signal)));
    },
    steer: (input) => ear.steer(input),
    stats: () => Promise.reject(new Error("a played agent has no stats")),
    compact: async () => ({ kind: "nothing" }),
    lost: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    async settledBytes() {
      if (run?.ending === "died") throw new Error("the process is gone");
      return settledBytes + (run?.texts.length ?? 0) + 100;
    },
    async [Symbol.asyncDispose]() {
      const given = leased.giveBack(run ? run.ending : "unused");
      if (given) await given; // nobody waits a turn of the loop for nothing: the same seeds play the same worlds as ever
    },
  };
}

const SUSPECT_AT = 2;

/** A turn that was at work in two crashes runs with nothing beside it. */
function checkAlone({ facts, database }: World, run: Run): void {
  const crashesOf = (turnId: TurnId): number =>
    database.rows<{ crashes: number }>("select crashes from turns where id = ?", turnId)[0]?.crashes ?? 0;
  const suspect = ({ turnId }: Run): boolean => crashesOf(turnId) >= SUSPECT_AT;
  const beside = facts.runs.filter((one) => one.life === run.life && one.ending === null && one.turnId !== run.turnId);
  if (beside.length > 0 && [run, ...beside].some(suspect)) facts.wrong(`${run.turnId} and a suspect run side by side`);
}

function beginRun({ world, life }: PoolDeps, { caller }: LeaseRequest, input: PromptInput): Run {
  const { sessionKey, turnId } = caller;
  const [row] = world.database.rows<{ attempt: number }>("select attempt from turns where id = ?", turnId);
  if (!row) world.facts.wrong(`${turnId} reached an agent before it was begun in the store`);
  const about = { turnId, sessionKey, life: life.number, attempt: row?.attempt ?? 0, texts: input.text };
  const run: Run = { ...about, role: caller.role, heard: [], ending: null, said: "" };
  checkAlone(world, run);
  world.facts.runs.push(run);
  world.facts.note(`agent asked ${turnId} attempt ${run.attempt}: ${input.text.replaceAll("\n", " ")}`);
  return run;
}

/** Before the last event, as the contract says. */
async function* closing(ear: Ear, stream: Stream): Stream {
  for await (const event of stream) {
    if (event.type === "done" || event.type === "failed" || event.type === "aborted") ear.close();
    yield event;
  }
  ear.close();
}

/** A stream is given up when its life ends; what it was doing has then no end. */
async function* noting({ world, life }: PoolDeps, run: Run, stream: Stream): Stream {
  for await (const event of stream) {
    if (!life.alive) return;
    if (event.type === "done" || event.type === "aborted") run.said = event.text;
    if (event.type !== "text") world.facts.note(`agent ${event.type} ${run.turnId} ${run.ending}`);
    yield event;
  }
}

type Conversation = Leased & { readonly run: Run; readonly ear: Ear };

async function* converse(deps: PoolDeps, talk: Conversation, signal: AbortSignal): Stream {
  const { world, clock } = deps;
  const { chance, run, ear } = talk;
  const kind = endingOf(world, chance);
  const pause = (ms: number): Promise<boolean> =>
    clock.sleep(ms, signal).then(
      () => true,
      () => false,
    );
  const aborted = (): AgentEvent => {
    run.ending = "aborted";
    return { type: "aborted", text: `[${run.turnId}.${run.attempt}] I was`, usage: NO_USAGE, model: MODEL };
  };
  const slow = chance.hits(world.options.agent.slow) ? 100 : 1;

  if (!(await pause(chance.between(1, 50) * slow))) return yield aborted();
  if (diesOf(deps, run)) return never();
  yield { type: "text", delta: "I was" };
  for (let calls = chance.between(0, 3); calls > 0; calls--) {
    ear.listen(run);
    if (!(await pause(chance.between(1, 50) * slow))) return yield aborted();
    if (diesOf(deps, run)) return never();
  }
  if (!world.calm && chance.hits(world.options.agent.unsafeTool)) yield* callTool(deps, talk);
  const goOn = kind === "hung" ? await pause(world.options.turnMs * 10) : await pause(chance.between(1, 50) * slow);
  if (!goOn) {
    if (kind === "hung") run.ending = "hung";
    const event = aborted();
    if (kind === "hung") run.ending = "hung";
    return yield event;
  }
  run.ending = kind;
  if (kind === "died" && chance.hits(0.3)) return; // not even an ending
  yield lastEvent(kind, run);
}

/** Some messages take the whole gateway with them. */
function diesOf({ world, life }: PoolDeps, run: Run): boolean {
  const told = [run.texts, ...run.heard].join(" ");
  const poison = world.options.poison.find((text) => told.includes(text));
  if (poison === undefined || !life.alive) return false;
  life.die(`of ${poison} in ${run.turnId}`);
  return true;
}

function endingOf({ calm, options }: World, chance: Chance): AgentEnding {
  if (calm) return "done";
  if (chance.hits(options.agent.dies)) return "died";
  if (chance.hits(options.agent.fails)) return "failed";
  if (chance.hits(options.agent.hangs)) return "hung";
  return chance.hits(options.agent.empty) ? "empty" : "done";
}

function lastEvent(kind: AgentEnding, run: Run): AgentEvent {
  const common = { usage: NO_USAGE, model: MODEL };
  const failed = { ...common, type: "failed", detail: "says the simulation", text: "" } as const;
  if (kind === "died") return { ...failed, code: "agent_exited", again: true };
  if (kind === "failed") return { ...failed, code: "agent_garbled", again: false };
  const words = `[${run.turnId}.${run.attempt}] answers ${[run.texts, ...run.heard].join(" ").replaceAll("\n", " ")}`;
  return { ...common, type: "done", text: kind === "empty" ? "" : words };
}

/** The tool runs only when its call is on the disk; from then on the turn must not be tried again. */
async function* callTool({ world, store, clock }: PoolDeps, { request, run }: Conversation): Stream {
  const { turnId, sessionKey, principal } = request.caller;
  const id = world.ids.next("call");
  const asked = {
    scope: `turn:${turnId}`,
    tool: "pay",
    origin: "chat",
    path: "pipe",
    input: {},
    paramsHash: "",
  } as const;
  const call = { id, callId: id, turnId, sessionKey, principal, ...asked, waiting: false };
  const known = await store.toolCalls.intend({ ...call, idempotent: false, at: clock.now() }).then(
    () => true,
    () => false, // not on the disk: the tool is refused
  );
  if (!known) return;
  world.facts.unsafe.add(run.turnId);
  world.facts.note(`tool runs in ${turnId}`);
  yield { type: "tool_start", callId: id, tool: "pay", input: {} };
  await store.toolCalls.settle(id, { status: "success", output: "paid", ms: 1 }).catch(() => undefined); // shown as unknown
  yield { type: "tool_end", callId: id, tool: "pay", isError: false, output: "paid" };
}
