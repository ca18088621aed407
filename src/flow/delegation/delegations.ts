/**
 * Agents that work for other agents right now. A delegated turn is no turn of the queue: it has no message, no chat and no row of its own, so nothing of it
 * can be repeated or shown after a crash. What it used and where its time went is handed to the turn that asked, once, when that one ends.
 */
import type { Config } from "../../config/index.ts";
import type { Caller, LeaseRequest } from "../../contracts/agent.ts";
import type { Budget, BudgetWork } from "../../contracts/budget.ts";
import type { Usage } from "../../contracts/chat.ts";
import type { Events } from "../../contracts/events.ts";
import type { AgentId, Role, SessionKey, TurnId } from "../../contracts/ids.ts";
import type {
  Delegated,
  DelegateChoice,
  DelegatedSpan,
  DelegatedTask,
  DelegatingTurn,
  TurnDelegations,
  DelegationEnd,
  DelegationRefusal,
  Delegator,
} from "../../contracts/tools/delegation.ts";
import { NO_TURN } from "../../contracts/tools/tool.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import { delegateSessionKey, lesserRole } from "../../routing/index.ts";
import { createSpanRecorder } from "../spans.ts";
import { addUsage, NOTHING_USED } from "../ending/turn-ending.ts";
import { type ChildDeps, type ChildEnd, runChildTurn } from "./child-turn.ts";
import { mayDelegate } from "./decide.ts";

interface DelegationDeps extends ChildDeps {
  readonly log: Log;
  readonly events: Events;
  readonly budget: Pick<Budget, "ask" | "bill" | "record">;
}

type DelegationConfig = Pick<Config, "agent" | "agents">;

/** Before every request of a person: the asking agent holds a process while it waits. */
const PRIORITY = 100;
/** Time in which a stopped child may still report its usage. */
const SETTLE_MS = 1_000;
/** A turn may ask for hours; its waterfall stays something one can look at. */
const MAX_DELEGATE_SPANS = 50;

interface Open extends DelegatingTurn {
  readonly depth: number;
  readonly running: Set<Promise<unknown>>;
  /** Aborted when its agent has said its last word, or has died: nobody waits for an answer any more. */
  readonly over: AbortController;
  readonly spans: DelegatedSpan[];
  usage: Usage;
}

interface Refusal {
  readonly because: DelegationRefusal;
  readonly say: string;
}

const NO_RUNNING_TURN: Refusal = {
  because: "no_turn",
  say: "Only an agent can ask another one, and only while it answers.",
};

interface World extends DelegationDeps {
  readonly config: () => DelegationConfig;
  readonly turns: Map<TurnId, Open>;
  total: number;
}

export function createDelegations(deps: DelegationDeps, config: () => DelegationConfig): Delegator & TurnDelegations {
  const world: World = { ...deps, config, turns: new Map(), total: 0 };
  return {
    choices: (caller) => choicesOf(world, caller),
    ask: (task, signal) => ask(world, task, signal),
    open(turn) {
      const made = openTurn(world, turn, 0);
      return {
        settle: () => settle(world, made),
        [Symbol.dispose]: () => void world.turns.delete(turn.turnId),
      };
    },
  };
}

function openTurn({ turns }: World, turn: DelegatingTurn, depth: number): Open {
  const made: Open = {
    ...turn,
    depth,
    running: new Set(),
    over: new AbortController(),
    spans: [],
    usage: NOTHING_USED,
  };
  turns.set(turn.turnId, made);
  return made;
}

function delegatesOf({ agent, agents }: DelegationConfig, from: AgentId): readonly string[] {
  return agents.find(({ id }) => id === from)?.delegates ?? (from === "default" ? agent.delegates : []);
}

/** A caller that is in no turn yet is shown every agent that any agent may ask. */
function choicesOf({ config, turns }: World, { agentId, turnId }: Caller): readonly DelegateChoice[] {
  const { agent, agents } = config();
  const depth = turns.get(turnId)?.depth ?? 0;
  if (depth >= agent.delegation.maxDepth) return [];
  const every = () => [...new Set([...agent.delegates, ...agents.flatMap(({ delegates }) => delegates ?? [])])];
  const ids = turnId === NO_TURN ? every() : delegatesOf({ agent, agents }, agentId);
  const described = new Map(agents.map(({ id, description }) => [id, description ?? ""]));
  return ids.map((id) => ({ agentId: id as AgentId, description: described.get(id) ?? "" }));
}

async function ask(world: World, task: DelegatedTask, signal: AbortSignal): Promise<DelegationEnd> {
  const { clock, budget } = world;
  const config = world.config();
  const { agentId: from, turnId } = task.caller;
  const asking = world.turns.get(turnId);
  if (!asking) return refuse(world, task, NO_RUNNING_TURN);
  const verdict = mayDelegate(
    {
      from,
      to: task.agent,
      depth: asking.depth,
      inAll: world.total,
      askedMs: task.timeoutMs,
      inTurn: asking.running.size,
      restMs: asking.endsAt - clock.elapsed(),
    },
    { ...config.agent.delegation, delegates: delegatesOf(config, from) },
  );
  if (!verdict.may) return refuse(world, task, verdict);
  const paid = budget.ask(workFor(task));
  if (!paid.may) {
    const say = `${paid.because} Do it yourself, or say that it could not be done.`;
    return refuse(world, task, { because: "budget", say });
  }
  const to = task.agent as AgentId;
  const work = runFor(world, asking, { ...task, to, timeoutMs: verdict.timeoutMs }, signal);
  asking.running.add(work);
  world.total++;
  try {
    const end = await work;
    return end.kind === "answered" ? { kind: "answered", agentId: to, text: end.text, model: end.model } : end;
  } finally {
    asking.running.delete(work);
    world.total--;
  }
}

/** Paid by the person that the asking agent works for. */
function workFor({ agent, caller: { principal } }: Pick<DelegatedTask, "agent" | "caller">): BudgetWork {
  return { agentId: agent as AgentId, principal, origin: "delegate" };
}

function refuse({ events, log }: World, { agent, caller }: DelegatedTask, { because, say }: Refusal): DelegationEnd {
  log.warn("delegation refused", { from: caller.agentId, to: agent.slice(0, 64), because, turnId: caller.turnId });
  events.emit("delegation.ended", { outcome: "refused", ms: 0 });
  return { kind: "refused", because, say };
}

interface Allowed extends DelegatedTask {
  readonly to: AgentId;
  readonly timeoutMs: number;
}

async function runFor(world: World, asking: Open, task: Allowed, signal: AbortSignal): Promise<ChildEnd> {
  const { clock, events, log, budget } = world;
  const { caller, to, timeoutMs } = task;
  const startedAt = clock.elapsed();
  const request = requestFor(world, task);
  const { turnId } = request.caller;
  const until = AbortSignal.any([signal, asking.signal, asking.over.signal]);
  const own = openTurn(world, { turnId, endsAt: startedAt + timeoutMs, signal: until }, asking.depth + 1);
  const spans = createSpanRecorder(clock, clock.now());
  log.info("delegation begins", { from: caller.agentId, to, turnId, askedBy: caller.turnId, depth: own.depth });
  const child = { request, from: caller.agentId, task: task.task, timeoutMs, spans, onText: task.onText };
  const end = await runChildTurn(world, child, until);
  const handed = await settle(world, own);
  world.turns.delete(turnId);
  spans.adopt(handed.spans);
  const ms = clock.elapsed() - startedAt;
  asking.usage = addUsage(asking.usage, addUsage(end.usage, handed.usage));
  if (asking.spans.length < MAX_DELEGATE_SPANS)
    asking.spans.push({ name: `delegate:${to}`, startedAt, ms, children: spans.close() });
  // at once, and not with the end of the turn that asked: that one may be withdrawn, or end too early for it
  await budget.record(budget.bill(workFor(task), { id: turnId, model: end.model, usage: end.usage }));
  if (!world.turns.has(asking.turnId)) log.warn("what a delegation used came too late to be counted", { turnId });
  const code = end.kind === "failed" ? end.code : undefined;
  log.info("delegation ended", { from: caller.agentId, to, turnId, outcome: end.kind, code, ms: Math.round(ms) });
  events.emit("delegation.ended", { outcome: end.kind === "answered" ? "done" : "failed", ms });
  return end;
}

/** For the same person, with no more rights than who asks has, and than the other agent gives anybody. */
function requestFor({ config, ids }: World, { caller, callId, to }: Allowed): LeaseRequest {
  const cap: Role = config().agents.find(({ id }) => id === to)?.role ?? "owner";
  const sessionKey: SessionKey = delegateSessionKey(to, caller.turnId, callId);
  const turnId = ids.next("turn") as TurnId;
  return {
    caller: {
      sessionKey,
      turnId,
      agentId: to,
      principal: caller.principal,
      role: lesserRole(caller.role, cap),
      origin: { channel: "delegate", account: "default", chat: caller.turnId },
      askedBy: caller,
    },
    sessionFile: `delegate-${turnId.replaceAll(/[^A-Za-z0-9]+/g, "-").toLowerCase()}.jsonl`,
    settledBytes: 0,
    priority: PRIORITY,
    delegatedBy: caller.turnId,
    passing: true,
  };
}

/** Hands over what there is, once. Children that still run are stopped, and get a moment to say what they used. */
async function settle({ clock }: World, turn: Open): Promise<Delegated> {
  if (turn.running.size > 0) {
    turn.over.abort(new Error("nobody waits for the answer"));
    using limit = clock.deadline(SETTLE_MS, () => new Error("a child takes its time"));
    await orAborted(Promise.allSettled(turn.running), limit.signal).catch(() => undefined); // what comes later is lost, and said in the log
  }
  const { usage, spans } = turn;
  turn.usage = NOTHING_USED;
  return { usage, spans: spans.splice(0) };
}
