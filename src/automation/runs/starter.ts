/**
 * Begins runs by putting them into the same inbox as everything else, and hears how they end. A few at a time: a thousand jobs of the same
 * second are a line, not a crowd. People's messages are not behind it, and what stands in it lets them speak first. Beginning twice is the same
 * as once, because the event id is.
 */
import type { Job, JobRun, JobStore } from "../../contracts/automation/job.ts";
import type { RunOutcome, RunStart, RunStarter } from "./run-start.ts";
import type { InternalMessage, InternalReceiver } from "../../contracts/automation/internal-message.ts";
import type { SystemEvents } from "../../contracts/automation/system-event.ts";
import type { Events } from "../../contracts/events.ts";
import type { AgentId, InboxId, Role, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { TurnStore } from "../../contracts/store/turns.ts";
import { background } from "../../kit/background.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import { untilDone } from "../../kit/until-done.ts";
import type { SessionChat, SessionChats } from "../../contracts/channels/session-chats.ts";
import { INTERNAL_PRIORITY, internalMessage } from "./internal-message.ts";
import { outcomeOf } from "./outcome.ts";
import { type PeopleFirst, watchPeople } from "./people-first.ts";
import { CRON_CHANNEL, toRunAddress } from "./run-address.ts";

interface StarterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<Events, "on">;
  readonly turns: Pick<TurnStore, "resultOf">;
  readonly jobs: Pick<JobStore, "run">;
  readonly sessionChats: SessionChats;
  readonly systemEvents: SystemEvents;
  readonly receiver: InternalReceiver;
  readonly rights: RunRights;
  /** Stops what runs in this session. */
  abort(sessionKey: SessionKey): void;
  /** A run is over; told until the engine is there to hear it. */
  ended(runId: string, outcome: RunOutcome, turnId: TurnId | null): Promise<void>;
}

export interface RunRights {
  /** The lesser of what its maker had then and has now; null: access is lost. */
  roleOf(job: Pick<Job, "createdBy" | "role" | "agentId">, chat: SessionChat): Role | null;
  sessionOf(agent: AgentId, jobId: string, runId: string): SessionKey;
  /** Why there is no money for it; null: there is. */
  unpaid(job: Job): string | null;
  /** Why it could not work, before anything is spent; null: nothing is known against it. */
  unable(job: Job, chat: SessionChat): string | null;
}

export interface Starter extends RunStarter, AsyncDisposable {
  stats(): { readonly active: number; readonly waiting: number };
}

interface Active {
  readonly runId: string;
  readonly sessionKey: SessionKey;
  readonly timer: AbortController;
  timedOut: boolean;
}

interface World extends StarterDeps {
  readonly active: Map<InboxId, Active>;
  /** Taken on and not put in yet. */
  readonly line: { readonly run: JobRun; readonly job: Job }[];
  starting: number;
  readonly people: PeopleFirst;
  readonly stop: AbortController;
}

/** `maxAtOnce` is asked each time, so that a changed configuration holds from the next run on. */
export function startRuns(deps: StarterDeps, maxAtOnce: () => number): Starter {
  const active: World["active"] = new Map();
  const people = watchPeople(deps, (id) => active.has(id));
  const world: World = { ...deps, active, people, line: [], starting: 0, stop: new AbortController() };
  const room = (): boolean => world.active.size + world.starting < maxAtOnce();
  /** Its place is taken before anything is waited for: who looks meanwhile must not find room that is promised. */
  const placed = async <T>(begin: () => Promise<T>): Promise<T> => {
    world.starting++;
    try {
      return await begin();
    } finally {
      world.starting--;
      goOn();
    }
  };
  const goOn = (): void => {
    while (room() && !world.stop.signal.aborted) {
      const next = world.line.shift();
      if (!next) return;
      background(world.log, "run from the line could not be begun", () => placed(() => submitLate(world, next)));
    }
  };
  const listening = deps.events.on("turn.ended", ({ inboxIds }) => {
    for (const id of inboxIds)
      if (world.active.has(id))
        background(world.log, "end of a run not dealt with", () => settle(world, id).finally(goOn));
  });

  return {
    unpaid: deps.rights.unpaid,
    check: async (job) => deps.rights.unable(job, await deps.sessionChats.of(job)),
    async start(run, job) {
      if (!room()) {
        world.line.push({ run, job });
        return { kind: "begun" };
      }
      return placed(() => submit(world, run, job));
    },
    stats: () => ({ active: world.active.size, waiting: world.line.length }),
    async [Symbol.asyncDispose]() {
      listening[Symbol.dispose]();
      people[Symbol.dispose]();
      world.stop.abort(new Error("the gateway is stopping"));
      for (const { timer } of world.active.values()) timer.abort(world.stop.signal.reason);
    },
  };
}

/** A run whose turn in the line has come: its maker is not waiting for the answer any more. */
async function submitLate(world: World, { run, job }: { readonly run: JobRun; readonly job: Job }): Promise<void> {
  try {
    await world.people.pause(world.stop.signal);
    if ((await world.jobs.run(run.id))?.status !== "running") return; // taken away while it stood in line
    const started = await submit(world, run, job);
    if (started.kind === "ended") await noteEnd(world, run.id, async () => started);
    if (started.kind === "refused") await noteEnd(world, run.id, async () => failed(started));
  } catch (error) {
    if (world.stop.signal.aborted) return; // begun again by the next start
    world.log.error("run could not be begun", { runId: run.id, jobId: job.id, error });
    await noteEnd(world, run.id, async () => failed({ because: "the gateway could not begin it", again: true }));
  }
}

interface RunEnd {
  readonly outcome: RunOutcome;
  readonly turnId: TurnId | null;
}

function failed({ because, again }: { readonly because: string; readonly again: boolean }): RunEnd {
  return { outcome: { kind: "failed", because, again }, turnId: null };
}

/** Until it is written down: a run that stays open keeps its job from running again. Never rejects; a stop leaves it to the next start. */
async function noteEnd(world: World, runId: string, endOf: () => Promise<RunEnd | null>): Promise<void> {
  const note = async (): Promise<void> => {
    const end = await endOf();
    if (end) await world.ended(runId, end.outcome, end.turnId);
  };
  const tell = (error: unknown, nextTryInMs: number): void =>
    world.log.error("end of a run could not be noted", { runId, nextTryInMs, error });
  await untilDone({ clock: world.clock, failed: tell }, note, world.stop.signal);
}

async function submit(world: World, run: JobRun, job: Job): Promise<RunStart> {
  const chat = await world.sessionChats.of(job);
  const role = world.rights.roleOf(job, chat);
  if (role === null)
    return { kind: "refused", because: "whoever made it may not use the gateway any more", again: false };
  const entry =
    job.mode === "main"
      ? await mainEntry(world, { run, job, chat, role })
      : isolatedEntry(world, { run, job, chat, role });
  const receipt = await world.receiver.put(entry, world.stop.signal);
  if (receipt.kind === "refused") {
    if (receipt.because === "stopping") return { kind: "begun" }; // begun again by the next start
    return { kind: "refused", because: receipt.say, again: true };
  }
  follow(world, receipt.id, { run, job, sessionKey: entry.sessionKey });
  const result = await world.turns.resultOf(receipt.id); // it may have ended before anybody listened
  if (!result || !forget(world, receipt.id)) return { kind: "begun" };
  return { kind: "ended", outcome: outcomeOf(result, false), turnId: result.turnId };
}

interface Wanted {
  readonly run: JobRun;
  readonly job: Job;
  readonly chat: SessionChat;
  readonly role: Role;
}

const eventIdOf = (run: JobRun): string => `cron:${run.id}:${run.attempt}`;

/** A session of its own for each run. */
function isolatedEntry(world: World, { run, job, chat, role }: Wanted): InternalMessage {
  const target = job.webhook ? { webhook: job.webhook } : {};
  const reply = { jobId: job.id, delivery: job.delivery, session: chat.sessionKey, ...target };
  const address = toRunAddress(reply, CRON_CHANNEL);
  const sessionKey = world.rights.sessionOf(job.agentId, job.id, run.id);
  const message = messageOf(world, run, job, { address, scope: "dm", text: job.task });
  return { sessionKey, agentId: job.agentId, role, priority: INTERNAL_PRIORITY, message };
}

/** The task waits in the main session, and a turn begins there for it. */
async function mainEntry(world: World, { run, job, chat, role }: Wanted): Promise<InternalMessage> {
  const event = { id: eventIdOf(run), sessionKey: chat.sessionKey, source: `job ${job.id}`, text: job.task };
  await world.systemEvents.put({ ...event, kind: "task" }, {});
  const { sessionKey, agentId, to, scope } = chat;
  const message = messageOf(world, run, job, { address: to, scope, text: `(The job ${job.id} is due.)` });
  return { sessionKey, agentId, role, priority: INTERNAL_PRIORITY, message };
}

function messageOf(
  { clock }: World,
  run: JobRun,
  job: Job,
  where: Pick<InternalMessage["message"], "address" | "scope" | "text">,
): InternalMessage["message"] {
  const sender = { principal: job.createdBy, name: job.id };
  return internalMessage({ ...where, eventId: eventIdOf(run), sender, receivedAt: clock.now(), origin: "cron" });
}

function follow(
  world: World,
  id: InboxId,
  { run, job, sessionKey }: { readonly run: JobRun; readonly job: Job; readonly sessionKey: SessionKey },
): void {
  const timer = new AbortController();
  const active: Active = { runId: run.id, sessionKey, timer, timedOut: false };
  world.active.set(id, active);
  if (job.timeoutMs === null || job.mode === "main") return;
  void world.clock.sleep(job.timeoutMs, timer.signal).then(
    () => {
      active.timedOut = true;
      world.abort(sessionKey);
    },
    () => undefined, // it ended in time
  );
}

function forget(world: World, id: InboxId): Active | null {
  const known = world.active.get(id) ?? null;
  world.active.delete(id);
  known?.timer.abort(new Error("the run is over"));
  return known;
}

async function settle(world: World, id: InboxId): Promise<void> {
  const known = forget(world, id);
  if (!known) return;
  await noteEnd(world, known.runId, async () => {
    const result = await world.turns.resultOf(id);
    return result && { outcome: outcomeOf(result, known.timedOut), turnId: result.turnId };
  });
}
