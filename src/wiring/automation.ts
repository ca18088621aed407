/** Automation: jobs, heartbeat, webhooks, and text that other parts put into sessions. Nothing begins before `start`. */
import { readChecklist } from "../agents/index.ts";
import type { Config } from "../config/index.ts";
import type { IncomingWebhooks } from "../contracts/automation/webhook.ts";
import type { JobsApi, LookAhead, TellMain } from "../contracts/automation/jobs.ts";
import type { SystemEvents } from "../contracts/automation/system-event.ts";
import { OPERATOR, type SessionKey } from "../contracts/ids.ts";
import { reportBackgroundEnd } from "../flow/index.ts";
import { hostZone } from "../kit/clock.ts";
import { systemResolver } from "../kit/outside/public-address.ts";
import {
  chooseSession,
  cronSessionKey,
  heartbeatSessionKey,
  webhookSessionKey,
  rightsNow,
  targetSessionKey,
} from "../routing/index.ts";
import {
  alertText,
  createCronChannel,
  createIncomingWebhooks,
  createJobService,
  createLookAhead,
  createRunRights,
  createSystemEvents,
  createTargetChannel,
  createTellMain,
  createTimes,
  createWake,
  type Heartbeat,
  heartbeatsOf,
  type WebhookNames,
  isAgent,
  jobLimits,
  type JobRights,
  type JobService,
  pruneRunSessions,
  refusalId,
  refusalText,
  type RunRights,
  startHeartbeat,
  startRuns,
  type Times,
} from "../automation/index.ts";
import { beginWhenHeld } from "../nodes/index.ts";
import type { Agents } from "./agents.ts";
import { checklistFolder } from "./automation-views.ts";
import { type Core, ofModule } from "./core.ts";
import { deadFileRemover } from "./files.ts";
import type { Messages } from "./messages.ts";
import type { People } from "./people.ts";
import type { Tools } from "./tools.ts";

export interface Automation {
  readonly jobs: JobsApi;
  readonly lookAhead: LookAhead;
  readonly webhooks: IncomingWebhooks;
  /** For plugins: news for the owner's main session. */
  readonly tellMain: TellMain;
  /** From now on slots are looked at. */
  start(): Promise<RunningAutomation>;
  /** Runs of jobs that came from a gateway that is gone go on here. */
  adopt(runIds: readonly string[]): Promise<void>;
  /** Jobs of the file, and whether jobs run, become what this configuration says. */
  reload(config: Config): Promise<void>;
  /** The configuration that parts ask for is another one now. */
  settingsChanged(): void;
  /** Sentences about jobs of the file that could not be taken over. */
  notices(): readonly string[];
}

interface RunningAutomation extends AsyncDisposable {
  /** Heartbeats begin at another gateway from now on. Jobs need no such thing: whoever begins a run, its turn is where its session is. */
  leaveHeartbeat(): Promise<void>;
}

interface AutomationParts {
  readonly people: Pick<People, "sessionChats" | "policies" | "grants" | "budget" | "times" | "ownerNotices">;
  readonly tools: Pick<Tools, "unusable" | "backgroundEnds">;
  readonly agents: Pick<Agents, "pool" | "missingKey">;
  readonly messages: Pick<Messages, "receiver" | "queue" | "outbox">;
}

/** Shared by the functions of this file. */
interface Shared extends AutomationParts {
  readonly core: Core;
  readonly times: Times;
  readonly rights: JobRights;
  readonly systemEvents: SystemEvents;
}

/** Messages of a chat in which a heartbeat's news are looked for before they are said again. */
const RECENT_ITEMS = 100;

export function openAutomation(whole: Core, parts: AutomationParts): Automation {
  const core = ofModule(whole, "automation");
  const { clock, ids, log, secrets, store, config } = core;
  const { people, messages } = parts;
  const { sessionChats } = people;
  const stopping = new AbortController();
  const times = createTimes(hostZone);
  const systemEvents = createSystemEvents({
    clock,
    store: store.systemEvents,
    sessionChats,
    receiver: messages.receiver,
    stopping: stopping.signal,
  });
  const shared: Shared = { ...parts, core, times, systemEvents, rights: openRunRights(core, parts, times) };
  registerChannels(shared);
  parts.tools.backgroundEnds.subscribe((end) => {
    void reportBackgroundEnd(
      { log, mask: secrets.mask, sessionChats, systemEvents, roleOf: shared.rights.roleOf },
      end,
    );
  });
  const service = openJobService(shared);
  let heartbeat: Heartbeat | null = null;
  return {
    jobs: {
      ...service.jobs,
      wake: createWake({ ids, sessionChats, systemEvents }),
      async status() {
        const running = await store.jobs.running();
        return { enabled: config().cron.enabled, nextAt: await store.jobs.nextDueAt(), running: running.length };
      },
    },
    lookAhead: createLookAhead({
      clock,
      times,
      people: people.times,
      store: store.jobs,
      limits: (role) => jobLimits(config(), role),
    }),
    webhooks: openWebhooks(shared),
    tellMain: createTellMain({ ids, sessionChats, systemEvents }),
    notices: service.notices,
    adopt: service.adopt,
    reload: service.apply,
    settingsChanged() {
      heartbeat?.poke();
      service.poke();
    },
    async start() {
      await service.apply(config());
      const beating = oneHeartbeat(core, () => (heartbeat = beginHeartbeat(shared)));
      return {
        leaveHeartbeat: async () => beating[Symbol.asyncDispose](),
        async [Symbol.asyncDispose]() {
          stopping.abort(new Error("the gateway is stopping"));
          await beating[Symbol.asyncDispose]();
          await service[Symbol.asyncDispose]();
        },
      };
    },
  };
}

function openRunRights({ clock, config, channels }: Core, parts: AutomationParts, times: Times): JobRights {
  const { people, agents, tools } = parts;
  const roleOf: RunRights["roleOf"] = ({ createdBy: principal, role, agentId }, { to, scope }) => {
    const rules = { config: config(), policies: people.policies, grants: people.grants.current() };
    const now = rightsNow({ principal, role, agentId, at: to, scope }, rules);
    return now.kind === "held" ? now.role : null;
  };
  return createRunRights({
    clock,
    times,
    config,
    budget: people.budget,
    roleOf,
    sessionOf: cronSessionKey,
    channels,
    agentTrouble: () => agents.pool.stats().trouble,
    missingKey: agents.missingKey,
    unusable: tools.unusable,
  });
}

/** Those that runs and webhooks answer into, and the one that posts to other programs. No person writes to them. */
function registerChannels({ core, people, systemEvents, messages }: Shared): void {
  const { clock, store, config, channels } = core;
  const recent = async (key: SessionKey) =>
    (await store.sessions.transcript(key, { limit: RECENT_ITEMS })).items.filter(({ role }) => role === "assistant");
  const deps = {
    clock,
    sessionChatStore: store.sessionChats,
    sessionChats: people.sessionChats,
    systemEvents,
    outbox: messages.outbox,
    targetSession: targetSessionKey,
    recent,
  };
  const target = createTargetChannel({ clock, resolve: systemResolver }, () => config().hooks.targets);
  for (const channel of [createCronChannel(deps, "cron"), createCronChannel(deps, "hook"), target])
    channels.register(channel, { unlisted: true });
}

function openWebhooks({ core, people, systemEvents, messages }: Shared): IncomingWebhooks {
  const { clock, ids, log, store, config } = core;
  const names: WebhookNames = {
    isAgent: (id) => isAgent(config(), id),
    isTarget: (name) => Object.hasOwn(config().hooks.targets, name),
    isMapping: (name) => Object.hasOwn(config().hooks.mappings, name),
    sessionKey: (text) => chooseSession(config(), text, undefined)?.sessionKey ?? (text as SessionKey),
    sessionOf: webhookSessionKey,
  };
  const { sessionChats } = people;
  const { receiver } = messages;
  const deps = { clock, ids, log, marks: store.webhookMarks, names, sessionChats, systemEvents, receiver };
  const counted = core.nodes.counts.of("webhook requests");
  return createIncomingWebhooks({ ...deps, counted }, () => config().hooks);
}

function openJobService(shared: Shared): JobService {
  const { core, times, rights, people, messages } = shared;
  const { clock, ids, log, events, store, config, options } = core;
  return createJobService({
    clock,
    ids,
    log,
    store: store.jobs,
    times,
    config,
    rules: {
      people: people.times,
      changed: () => events.emit("status", { what: "jobs" }),
      isAgent: (id) => isAgent(config(), id),
      limits: (role) => jobLimits(config(), role),
      missing: async (job) => rights.missing(job, await people.sessionChats.of(job)),
    },
    reports: {
      told: (run) => events.emit("cron.run", { run }),
      tellOwner: (alert) => people.ownerNotices.tell(`alert-${alert.id}`, alertText(alert)),
      pruneSessions: (signal) =>
        pruneRunSessions(
          { clock, log, runSessions: store.runSessions, removeFile: deadFileRemover(store, options.home) },
          signal,
        ),
    },
    openStarter: (ended) =>
      startRuns(
        {
          clock,
          log,
          events,
          turns: store.turns,
          jobs: store.jobs,
          sessionChats: people.sessionChats,
          systemEvents: shared.systemEvents,
          receiver: messages.receiver,
          rights,
          abort: (sessionKey) => void messages.queue.abort(sessionKey),
          ended,
        },
        () => config().cron.maxRunsAtOnce,
      ),
  });
}

/** One heartbeat for all gateways on a database. Slots of jobs need no such thing: of those who fire one, the database lets one win. */
function oneHeartbeat({ clock, log, store }: Core, begin: () => Heartbeat): AsyncDisposable {
  if (!store.nodes.several) return begin();
  return beginWhenHeld({ clock, log, leases: store.nodeLeases }, { kind: "heartbeat", key: "all" }, begin);
}

/** A clock of its own: nothing about it keeps a job from running. */
function beginHeartbeat({ core, people, messages, rights }: Shared): Heartbeat {
  const { clock, log, events, store, config } = core;
  return startHeartbeat(
    {
      clock,
      log,
      events,
      store,
      agents: {
        async checklist(agentId) {
          const folder = checklistFolder(core, agentId);
          return folder === null ? null : readChecklist(folder);
        },
        rightsOf(agentId, chat) {
          const role = rights.roleOf({ createdBy: OPERATOR, role: "owner", agentId }, chat);
          return role && { principal: OPERATOR, role };
        },
        sessionOf: heartbeatSessionKey,
        unpaid: (agentId) => !people.budget.ask({ agentId, principal: OPERATOR, origin: "heartbeat" }).may,
      },
      sessionChats: people.sessionChats,
      receiver: messages.receiver,
      busy: messages.queue.isBusy,
      tellRefused: (refusal) => people.ownerNotices.tell(refusalId(refusal), refusalText(config(), refusal)),
    },
    () => heartbeatsOf(config()),
  );
}
