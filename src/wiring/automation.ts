/** Brings together what begins by itself: jobs, their runs, the way back of their words, and the owner who is told when something is wrong. */
import { removeSessionFile } from "../agents/index.ts";
import { type Config, type Environment } from "../config/index.ts";
import type { Job, JobAlert, JobRun, RunOutcome } from "../contracts/automation/job.ts";
import type { PersonTimes } from "../contracts/automation/when.ts";
import type { JobDesk, Jobs, TellMain } from "../contracts/automation/jobs.ts";
import type { OwnReceiver } from "../contracts/automation/own-message.ts";
import type { HookDoor } from "../contracts/automation/hook.ts";
import type { SystemEvents } from "../contracts/automation/system-event.ts";
import type { AgentPool, Caller } from "../contracts/agent.ts";
import type { Budget } from "../contracts/budget/budget.ts";
import type { Channel } from "../contracts/channel.ts";
import type { Outbox } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { AgentId, Principal, Role, SessionKey, TurnId } from "../contracts/ids.ts";
import type { Queue } from "../contracts/queue.ts";
import type { Store } from "../contracts/store.ts";
import { providerFacts } from "./desk.ts";
import { beginHeartbeat } from "./heartbeats.ts";
import { pruneRunSessions } from "./run-sessions.ts";
import { createHookSide } from "./webhooks.ts";
import { type Clock, hostZone } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import {
  chooseSession,
  cronSessionKey,
  DEFAULT_AGENT,
  type AccessDoors,
  type GrantedRoles,
  rightsNow,
  OPERATOR,
} from "../routing/index.ts";
import {
  applyConfigJobs,
  type ConfigJob,
  createHomes,
  createJobs,
  createSystemEvents,
  createTimes,
  type Engine,
  type Heartbeat,
  type Home,
  type Homes,
  intervalProblem,
  type RunRights,
  startEngine,
  startRuns,
  type Times,
} from "../schedule/index.ts";

export interface AutomationParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: Store;
  readonly events: Events;
  readonly config: () => Config;
  readonly environment: Environment;
  readonly home: string;
  readonly grants: () => GrantedRoles;
  readonly doors: () => AccessDoors;
  readonly pool: AgentPool;
  readonly budget: Pick<Budget, "ask">;
  readonly people: PersonTimes;
  /** Why this caller could not use a tool; null: nothing is known against it. */
  unusable(tool: string, caller: Caller): string | null;
  /** Built later; asked for when a run needs them. */
  receiver(): OwnReceiver;
  outbox(): Outbox;
  queue(): Queue;
  channels(): { get(id: string): Channel | undefined };
}

/** What the rest of the house needs before anything begins. Makes nothing run. */
export interface Automation {
  readonly jobs: JobDesk;
  readonly systemEvents: SystemEvents;
  /** What plugins may do with it. */
  readonly lent: { readonly tellMain: TellMain };
  /** Those that no person writes to. */
  readonly channels: readonly Channel[];
  /** What the port offers of it. */
  readonly served: { readonly jobs: JobDesk; readonly hookDoor: HookDoor };
  readonly homes: Homes;
  readonly rights: Pick<RunRights, "roleOf">;
  /** From now on slots are looked at. */
  start(): Promise<AsyncDisposable>;
  /** Jobs of the file, and whether jobs run, become what this configuration says. */
  reload(config: Config): Promise<void>;
  /** The configuration that parts ask for is another one now. */
  settingsChanged(): void;
  /** Sentences about jobs of the file that could not be taken over. */
  notices(): readonly string[];
}

export function createAutomation(parts: AutomationParts): Automation {
  const { store, config } = parts;
  const times = createTimes(hostZone);
  const stopping = new AbortController();
  const homes = homesOf(parts);
  const systemEvents = createSystemEvents({
    ...parts,
    store: store.systemEvents,
    homes,
    stopping: stopping.signal,
  });
  const { door: hookDoor, channels } = createHookSide({ ...parts, homes, systemEvents });
  const at: Desk = { times, homes, systemEvents, engine: null };
  let notices: readonly string[] = [];
  const jobs = createJobDesk(parts, at);
  const applyFile = async ({ cron }: Config): Promise<void> => {
    notices = await applyConfigJobs({ ...parts, store: store.jobs, times }, cron.jobs.map(jobOfFile));
    for (const notice of notices) parts.log.warn("job of the configuration left out", { because: notice });
    at.engine?.poke();
  };

  let running: AsyncDisposable | null = null;
  let pulse: Heartbeat | null = null;
  const follow = async (from: Config): Promise<void> => {
    await applyFile(from);
    if (from.cron.enabled && !stopping.signal.aborted) running ??= beginJobs(parts, at);
    if (from.cron.enabled || !running) return;
    const old = running;
    running = null;
    await old[Symbol.asyncDispose]();
  };

  const desk: JobDesk = { ...jobs, ...lookAndWake(parts, homes, systemEvents) };
  return {
    jobs: desk,
    served: { jobs: desk, hookDoor },
    systemEvents,
    lent: { tellMain: tellMain(parts, homes, systemEvents) },
    channels,
    homes,
    rights: runRights(parts),
    notices: () => notices,
    reload: follow,
    settingsChanged() {
      pulse?.poke();
      at.engine?.poke();
    },
    async start() {
      await follow(config());
      pulse = beginHeartbeat({ ...parts, homes, roleOf: runRights(parts).roleOf });
      return {
        async [Symbol.asyncDispose]() {
          stopping.abort(new Error("the gateway is stopping"));
          await pulse?.[Symbol.asyncDispose]();
          await running?.[Symbol.asyncDispose]();
        },
      };
    },
  };
}

/** What the parts of this file share. */
interface Desk {
  readonly times: Times;
  readonly homes: Homes;
  readonly systemEvents: SystemEvents;
  /** Null while jobs are switched off. */
  engine: Engine | null;
}

/** The rules of jobs, with the settings of now. */
function createJobDesk(parts: AutomationParts, at: Desk): Jobs {
  const { store, config } = parts;
  const { times, homes } = at;
  return createJobs({
    ...parts,
    store: store.jobs,
    times,
    engine: {
      poke: () => at.engine?.poke(),
      runNow: async (id, when) => (await at.engine?.runNow(id, when)) ?? null,
    },
    changed: () => parts.events.emit("status", { what: "jobs" }),
    isOn: () => config().cron.enabled,
    isAgent: (id) => id === DEFAULT_AGENT || config().agents.some((agent) => agent.id === id),
    limits: (role) => jobLimits(config(), role),
    missing: async (job) => missingParts(parts, job, { home: await homes.of(job), rights: runRights(parts) }),
  });
}

function beginJobs(parts: AutomationParts, at: Desk): AsyncDisposable {
  const { store, config } = parts;
  const { homes, systemEvents, times } = at;
  const ended = async (runId: string, outcome: RunOutcome, turnId: TurnId | null): Promise<void> =>
    at.engine?.ended(runId, outcome, turnId);
  const runs = startRuns(
    {
      ...parts,
      ...{ turns: store.turns, jobs: store.jobs, homes, systemEvents, receiver: parts.receiver(), ended },
      rights: runRights(parts),
      abort: (sessionKey) => void parts.queue().abort(sessionKey),
    },
    () => config().cron.maxRunsAtOnce,
  );
  const pruning = {
    runSessions: store.runSessions,
    removeFile: (name: string) => removeSessionFile(parts.home, name),
  };
  const telling = {
    told: (run: JobRun) => parts.events.emit("cron.run", { run }),
    tellOwner: (alert: JobAlert) => alertOwner(parts, homes, alert),
    pruneSessions: (signal: AbortSignal) => pruneRunSessions({ ...parts, ...pruning }, signal),
  };
  const engine = startEngine({ ...parts, ...telling, store: store.jobs, times, starter: runs });
  at.engine = engine;
  return {
    async [Symbol.asyncDispose]() {
      at.engine = null;
      await engine[Symbol.asyncDispose]();
      await runs[Symbol.asyncDispose]();
    },
  };
}

const MAX_WAKE_CHARS = 8_000;

function lookAndWake(
  { ids, store, config }: AutomationParts,
  homes: Homes,
  systemEvents: SystemEvents,
): Pick<JobDesk, "wake" | "status"> {
  return {
    async wake({ text, mode }, { principal, role, sessionKey }) {
      const problem = wordsProblem(text);
      if (problem !== null) return { kind: "refused", say: problem };
      const home = (sessionKey && (await homes.at(sessionKey))) ?? (await homes.ofOwner());
      const event = { id: ids.next("event"), sessionKey: home.sessionKey, source: "wake", kind: "task", text } as const;
      await systemEvents.put(event, mode === "now" ? { wake: { principal, role } } : {});
      return { kind: "ok", sessionKey: home.sessionKey };
    },
    async status() {
      const running = await store.jobs.running();
      return { enabled: config().cron.enabled, nextAt: await store.jobs.nextDueAt(), running: running.length };
    },
  };
}

function wordsProblem(text: string): string | null {
  if (text.trim() === "") return "Say what the assistant should know.";
  return text.length > MAX_WAKE_CHARS ? `A wake has ${MAX_WAKE_CHARS} characters at most.` : null;
}

/** For parts that are not people: what they say is news, never a task, and works with the operator's rights in the operator's conversation. */
function tellMain({ ids }: AutomationParts, homes: Homes, systemEvents: SystemEvents): TellMain {
  return async (source, { text, mode }) => {
    const problem = wordsProblem(text);
    if (problem !== null) return { kind: "refused", say: problem };
    const { sessionKey } = await homes.ofOwner();
    const event = { id: ids.next("event"), sessionKey, source, kind: "news", text } as const;
    await systemEvents.put(event, mode === "now" ? { wake: { principal: OPERATOR, role: "owner" } } : {});
    return { kind: "ok", sessionKey };
  };
}

function jobOfFile({ agentId, ...job }: Config["cron"]["jobs"][number]): ConfigJob {
  return { ...job, ...(agentId === undefined ? {} : { agentId: agentId as AgentId }) };
}

function homesOf({ store, config, grants }: AutomationParts): Homes {
  const owners = (): readonly Principal[] => {
    const granted = [...grants()].filter(([, role]) => role === "owner").map(([principal]) => principal);
    return [OPERATOR, ...(config().roles.owners as readonly string[] as readonly Principal[]), ...granted];
  };
  const named = (sessionKey: SessionKey): Omit<Home, "scope"> | null => {
    const chosen = chooseSession(config(), sessionKey, undefined);
    return chosen && { ...chosen, to: { channel: chosen.channel, account: "default", chat: chosen.chat } };
  };
  const fallback: Home = {
    sessionKey: `agent:${DEFAULT_AGENT}:api:dm:${OPERATOR}` as SessionKey,
    agentId: DEFAULT_AGENT,
    to: { channel: "api", account: "default", chat: OPERATOR },
    scope: "dm",
  };
  return createHomes({ places: store.places, owners, named, fallback });
}

function jobLimits({ cron }: Config, role: Role) {
  return role === "owner" ? cron.limits.owner : cron.limits.member; // guests make no jobs
}

export function runRights(parts: AutomationParts): RunRights {
  const { clock, config, grants, doors, pool, channels, environment, budget } = parts;
  const times = createTimes(hostZone);
  const rights: RunRights = {
    unpaid({ agentId, createdBy }) {
      const verdict = budget.ask({ agentId, principal: createdBy, origin: "cron" });
      return verdict.may ? null : verdict.because;
    },
    roleOf(job, home) {
      const { createdBy: principal, role, agentId } = job;
      const rules = { config: config(), doors: doors(), grants: grants() };
      const now = rightsNow({ principal, role, agentId, at: home.to, scope: home.scope }, rules);
      return now.kind === "held" ? now.role : null;
    },
    sessionOf: cronSessionKey,
    unable(job, home) {
      const { trouble } = pool.stats();
      if (trouble !== null) return trouble;
      const { agents } = config();
      if (job.agentId !== DEFAULT_AGENT && !agents.some(({ id }) => id === job.agentId))
        return `There is no agent called ${job.agentId} any more.`;
      const needsChat = job.mode === "main" || job.delivery !== "silent";
      if (needsChat && !channels().get(home.to.channel))
        return `Its words go to ${home.to.channel}, and that channel is not open.`;
      const missing = missingKey(config(), environment, job.agentId) ?? missingParts(parts, job, { home, rights });
      const role = rights.roleOf(job, home);
      if (missing !== null || role === null || job.source === "config") return missing;
      return intervalProblem(times, job, { limits: jobLimits(config(), role), now: clock.now() });
    },
  };
  return rights;
}

/** A webhook or tool that the job names and cannot have. Tools are asked for with the rights that its run will have. */
function missingParts(
  { unusable, config }: Pick<AutomationParts, "unusable" | "config">,
  job: Job,
  { home, rights }: { readonly home: Home; readonly rights: RunRights },
): string | null {
  if (job.webhook && !Object.hasOwn(config().hooks.targets, job.webhook))
    return `Its result is to be posted to ${job.webhook}, and there is no such webhook in hooks.targets.`;
  const role = rights.roleOf(job, home);
  if (role === null) return null; // it is refused for that
  const own = job.mode === "isolated";
  const caller: Caller = {
    ...{ principal: job.createdBy, role, cause: "cron", origin: home.to, turnId: `check-${job.id}` as TurnId },
    agentId: own ? job.agentId : home.agentId,
    sessionKey: own ? cronSessionKey(job.agentId, job.id, "check") : home.sessionKey,
  };
  for (const tool of job.needs ?? []) {
    const because = unusable(tool, caller);
    if (because !== null) return `It needs the tool ${tool}, and cannot have it: ${because}.`;
  }
  return null;
}

/** Only what is certain counts: a provider that is configured, or that needs no key, is asked for real. */
function missingKey(config: Config, environment: Environment, agentId: AgentId): string | null {
  const model = config.agents.find(({ id }) => id === agentId)?.model ?? config.agent.model;
  const [provider] = model?.split("/") ?? [];
  if (provider === undefined || config.agent.agentDir !== undefined) return null;
  const { configured, known } = providerFacts(config, environment);
  const facts = Object.hasOwn(configured, provider) ? undefined : known[provider];
  return facts && !facts.hasKey ? `There is no API key for ${provider}. Set ${facts.variables.join(" or ")}.` : null;
}

/** In the conversation where they were last. The id is that of the alert, so that it is said once, whatever happens in between. */
async function alertOwner({ clock, store, outbox }: AutomationParts, homes: Homes, alert: JobAlert): Promise<void> {
  const { sessionKey, agentId, to } = await homes.ofOwner();
  const turnId = `alert-${alert.id}` as TurnId;
  const reply = [{ part: 0, message: { kind: "notice", text: alertWords(alert) } as const }];
  await store.places.say({ turnId, sessionKey, agentId, principal: OPERATOR, to, reply, at: clock.now() });
  outbox().wake();
}

export function alertWords({ jobId, kind, failures, because }: JobAlert): string {
  if (kind === "recovered") return `The scheduled job ${jobId} works again.`;
  const failed = `The scheduled job ${jobId} failed ${failures === 1 ? "once" : `${failures} times in a row`}`;
  if (kind === "disabled")
    return `${failed} and is switched off. The last reason: ${because} When that is mended, \`/cron resume ${jobId}\` starts it again.`;
  return `${failed}: ${because} \`/cron runs ${jobId}\` shows its runs, \`/cron pause ${jobId}\` stops it.`;
}
