/** Prepares for messages that may come: opens a session in an idle process, or starts one. Acts on `choosePrepared`; refuses whatever a turn would have to wait for. */
import type { LeaseRequest, Preparation, PrepareRequest } from "../contracts/agent.ts";
import { GatewayError } from "../contracts/errors.ts";
import { orAborted } from "../kit/deferred.ts";
import type { Situation } from "./choose.ts";
import { choosePrepared, type PrepareChoice } from "./choose-prepared.ts";
import type { Kind } from "./kinds.ts";
import { newWorker, type Pool, sparesToKeep, type Worker, workerOf } from "./pool-state.ts";
import { canReadAhead, readAhead } from "./talk/session-ahead.ts";
import { prepared } from "./worker-state.ts";

/** A message that comes later than this was not what it was prepared for. */
const USED_WITHIN_MS = 60_000;

/** What the pool does with its processes. */
interface PrepareActs {
  situation(pool: Pool, kind: Kind, claimed: number): Situation;
  spawn(pool: Pool, one: Worker): Promise<void>;
  retire(pool: Pool, one: Worker): Promise<void>;
  rest(pool: Pool, one: Worker): void;
  refill(pool: Pool): void;
  track(pool: Pool, work: Promise<void>): Promise<void>;
}

interface Hint {
  readonly caller: PrepareRequest["caller"];
  readonly kind: Kind;
  /** Null: nothing was said in the session yet. */
  readonly sessionFile: string | null;
  /** Null: there is none to open. */
  readonly session: PrepareRequest["session"];
}

export async function prepare(
  pool: Pool,
  request: PrepareRequest,
  acts: PrepareActs,
  signal: AbortSignal,
): Promise<Preparation> {
  if (pool.stopping.signal.aborted) throw new GatewayError("stopping", "the pool is closing");
  const preparing = pool.kinds.prepare(request);
  if (preparing) await orAborted(preparing, signal);
  const kind = pool.kinds.of(request);
  const { caller } = request;
  const sessionFile = request.session?.sessionFile ?? null;
  const hint = { caller, kind, sessionFile, session: await openable(pool, kind, request) };
  const choice = chosen(pool, hint, acts);
  if (choice.kind === "nothing" || pool.stopping.signal.aborted)
    return { prepares: "nothing", because: choice.because, over: Promise.resolve() };
  pool.deps.events.emit("agent.prepared", { used: false });
  const over = choice.kind === "open" ? open(pool, hint, choice.worker, acts) : start(pool, hint, acts);
  return { prepares: choice.kind === "open" ? "session" : "process", because: choice.because, over };
}

/** A turn takes a process that was prepared. */
export function noteUse(pool: Pool, one: Worker, { sessionFile }: Pick<LeaseRequest, "sessionFile">): void {
  const hint = one.prepared;
  one.prepared = null;
  if (hint === null || pool.deps.clock.elapsed() - hint.at > USED_WITHIN_MS) return;
  if (hint.sessionFile === null || hint.sessionFile === sessionFile)
    pool.deps.events.emit("agent.prepared", { used: true });
}

async function openable(pool: Pool, { settings }: Kind, { session }: PrepareRequest): Promise<Hint["session"]> {
  if (session === null || pool.deps.played) return null;
  return (await canReadAhead({ ...session, folders: settings.folders }, pool.inspect)) ? session : null;
}

function chosen(pool: Pool, { caller, kind, sessionFile, session }: Hint, acts: PrepareActs): PrepareChoice {
  const { principal, role } = caller;
  const wanted = { principal, role, sessionFile, canOpen: session !== null, profile: kind.signature };
  const isStarting = [...pool.workers.values()].some(({ isAhead, state }) => isAhead && state.at === "starting");
  const now = acts.situation(pool, kind, 0);
  return choosePrepared(wanted, {
    ...now,
    mayStart: now.mayStart && !isStarting && kind.starts.trouble() === null,
    waiting: pool.waiting.size(),
    keepsSpare: kind === pool.kinds.standard && sparesToKeep(pool).count > 0,
    isMemoryScarce: pool.isMemoryScarce,
  });
}

/** Never rejects. */
function open(pool: Pool, hint: Hint, worker: number, acts: PrepareActs): Promise<void> {
  const one = workerOf(pool, worker);
  const { session, caller } = hint;
  if (session === null) return Promise.resolve();
  const at = pool.deps.clock.elapsed();
  one.idle?.abort();
  one.state = prepared(one.state, { ...caller, sessionFile: session.sessionFile }, at);
  one.session = null; // until it has read this one
  one.prepared = { sessionFile: session.sessionFile, at };
  one.opening = acts.track(pool, read(pool, one, hint, acts));
  return one.opening;
}

/** Never rejects. A turn that takes the process meanwhile goes on when this is over. */
async function read(pool: Pool, one: Worker, { caller, kind, session }: Hint, acts: PrepareActs): Promise<void> {
  const { deps, stopping } = pool;
  const { agent } = one;
  try {
    if (!agent || session === null) return;
    await agent.pipe.push(caller, stopping.signal).taken;
    const opened = await readAhead(deps, agent, { ...session, folders: kind.settings.folders });
    one.switches++;
    one.session = opened;
    if (opened && one.state.at === "idle") one.serves = { caller, ...session };
  } catch (error) {
    deps.log.debug("session could not be opened ahead", { pid: agent?.process.pid, error });
    if (one.state.at === "idle") void acts.retire(pool, one);
    else void agent?.process.stop(true); // the turn that has taken it goes to another one
  } finally {
    one.opening = null;
  }
  if (one.state.at === "idle") acts.rest(pool, one);
  acts.refill(pool);
}

/** Never rejects. The process is for whoever asks first; when that is nobody, the session is opened in it. */
async function start(pool: Pool, hint: Hint, acts: PrepareActs): Promise<void> {
  const one = newWorker(pool, hint.kind, true);
  one.prepared = { sessionFile: null, at: pool.deps.clock.elapsed() };
  await acts.track(pool, acts.spawn(pool, one));
  if (hint.session === null || pool.stopping.signal.aborted) return;
  const choice = chosen(pool, hint, acts);
  if (choice.kind !== "open") return;
  one.prepared = null; // it counts as the session
  await open(pool, hint, choice.worker, acts);
}
