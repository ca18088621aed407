/**
 * Starts heartbeats: an agent looks after its checklist from time to time. A heartbeat is a message in the same inbox as everything else, of the lowest priority; jobs have a
 * clock of their own and never wait for it. Nothing is kept: one that fell into a stop is simply left out.
 */
import type { InternalMessage, InternalReceiver } from "../../contracts/automation/internal-message.ts";
import type { SystemEventStore } from "../../contracts/automation/system-event.ts";
import type { Events } from "../../contracts/events.ts";
import type { AgentId, InboxId, Principal, Role, SessionKey } from "../../contracts/ids.ts";
import type { TurnStore } from "../../contracts/store/turns.ts";
import type { SessionChatStore } from "../../contracts/store/session-chats.ts";
import { type Clock, hostZone } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { SessionChat, SessionChats } from "../../contracts/channels/session-chats.ts";
import { internalMessage } from "../runs/internal-message.ts";
import { CRON_CHANNEL, HEARTBEAT, toRunAddress } from "../runs/run-address.ts";
import { type HeartbeatDecision, type HeartbeatFacts, decideHeartbeat, minuteOfDay } from "./decide.ts";

interface HeartbeatDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<Events, "on">;
  readonly store: HeartbeatStore;
  readonly agents: HeartbeatAgents;
  readonly sessionChats: Pick<SessionChats, "ofOwner">;
  readonly receiver: InternalReceiver;
  /** Something is being said there, or waits to be. */
  busy(sessionKey: SessionKey): boolean;
  /** The provider rejects the runs of this agent. Told once, until one of its turns has ended well. */
  tellRefused(refusal: HeartbeatRefusal): Promise<void>;
}

interface HeartbeatStore {
  readonly turns: Pick<TurnStore, "resultOf">;
  readonly sessionChats: Pick<SessionChatStore, "of">;
  readonly systemEvents: Pick<SystemEventStore, "waiting">;
}

interface HeartbeatRights {
  readonly principal: Principal;
  readonly role: Role;
}

/** Facts about the agent that a heartbeat wakes. */
interface HeartbeatAgents {
  /** The agent's HEARTBEAT.md; null: there is none. */
  checklist(agentId: AgentId): Promise<string | null>;
  /** With whose rights a heartbeat runs; null: nobody may use it. */
  rightsOf(agentId: AgentId, chat: SessionChat): HeartbeatRights | null;
  sessionOf(agentId: AgentId, runId: string): SessionKey;
  /** There is no money for it. */
  unpaid(agentId: AgentId): boolean;
}

export interface HeartbeatRefusal {
  readonly agentId: AgentId;
  readonly code: string;
  readonly at: number;
}

/** The heartbeat of one agent. */
export interface HeartbeatSettings {
  readonly agentId: AgentId;
  readonly enabled: boolean;
  readonly every: number;
  readonly activeHours: { readonly start?: string; readonly end?: string; readonly timezone?: string };
  readonly retries: number;
  readonly skipWhenBusy: boolean;
  readonly prompt?: string;
  /** False: only when it has a checklist. */
  readonly withoutChecklist: boolean;
}

export interface Heartbeat extends AsyncDisposable {
  /** Settings have changed: look again. */
  poke(): void;
}

const PRIORITY = 1;
const RETRY_MS = 60_000;
/** The wall clock may jump, and settings may change. */
const MAX_SLEEP_MS = 60_000;
/** Errors that a retry does not mend. */
const REFUSALS: readonly (string | null)[] = [
  ...["provider_auth", "provider_unpaid", "provider_refused", "model_missing", "agent_missing"],
];

const PROMPT =
  "Heartbeat: look whether something needs attention now. Do not take up old tasks again. If nothing does, reply with HEARTBEAT_OK and nothing else.";

/** A run in a fresh session does not remember what the run before has said. */
const REPORTED = "Reported already; do not report it again unless it has changed:";
const MAX_NEWS_CHARS = 2_000;

interface HeartbeatState {
  dueAt: number;
  retriesLeft: number;
  refusals: number;
  /** When a failed one is tried once more. */
  againAt: number;
  /** The last report to the owner; null: none since the start. */
  news: string | null;
}

interface World extends HeartbeatDeps {
  readonly settings: () => readonly HeartbeatSettings[];
  readonly states: Map<AgentId, HeartbeatState>;
  readonly running: Map<InboxId, AgentId>;
  readonly stop: AbortController;
}

/** `settings` are asked for each time, so that a changed configuration holds from the next look on. */
export function startHeartbeat(deps: HeartbeatDeps, settings: () => readonly HeartbeatSettings[]): Heartbeat {
  const world: World = { ...deps, settings, states: new Map(), running: new Map(), stop: new AbortController() };
  const { signal } = world.stop;
  let rung = Promise.withResolvers<void>();
  const listening = deps.events.on("turn.ended", ({ inboxIds, outcome }) => {
    for (const id of inboxIds) if (world.running.has(id)) return void settle(world, id);
    if (outcome === "done") for (const state of world.states.values()) state.refusals = 0; // a provider that answers is mended
  });
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      rung = Promise.withResolvers<void>();
      const wait = await step(world).catch((error: unknown) => {
        deps.log.error("heartbeat failed", { error });
        return MAX_SLEEP_MS;
      });
      const timer = deps.clock.sleep(wait, signal).catch(() => undefined); // stopped
      await Promise.race([timer, rung.promise]);
    }
  };
  const looping = loop();
  return {
    poke: () => rung.resolve(),
    async [Symbol.asyncDispose]() {
      listening[Symbol.dispose]();
      world.stop.abort(new Error("the gateway is stopping"));
      await looping;
    },
  };
}

/** Runs the heartbeats that are due; returns how long until the next may be. */
async function step(world: World): Promise<number> {
  const now = world.clock.elapsed();
  let next = now + MAX_SLEEP_MS;
  const all = world.settings();
  const enabledAgents = new Set(all.flatMap(({ enabled, agentId }) => (enabled ? [agentId] : [])));
  for (const agentId of world.states.keys()) if (!enabledAgents.has(agentId)) world.states.delete(agentId);
  for (const settings of all) {
    const { agentId, enabled, every, retries } = settings;
    if (!enabled) continue;
    const state = world.states.get(agentId) ?? {
      dueAt: now + every,
      retriesLeft: retries,
      refusals: 0,
      againAt: Infinity,
      news: null,
    };
    world.states.set(agentId, state);
    state.dueAt = Math.min(state.dueAt, now + every); // the interval was made shorter
    const due = state.dueAt <= now;
    const again = state.againAt <= now;
    if (due) {
      state.retriesLeft = retries;
      state.dueAt += every * Math.max(1, Math.ceil((now - state.dueAt + 1) / every)); // what fell into a sleep is left out
    }
    if (due || again) {
      state.againAt = Infinity;
      await runHeartbeat(world, settings, state);
    }
    next = Math.min(next, state.dueAt, state.againAt);
  }
  return Math.max(0, next - now);
}

async function runHeartbeat(world: World, settings: HeartbeatSettings, state: HeartbeatState): Promise<void> {
  const { agentId, withoutChecklist, prompt = PROMPT } = settings;
  if ([...world.running.values()].includes(agentId)) return; // the one before has not ended
  const checklist = await world.agents.checklist(agentId);
  if (!withoutChecklist && checklist === null) return;
  const chat = await world.sessionChats.ofOwner();
  const decision = await decide(world, settings, { chat, checklist, refusals: state.refusals });
  if (!decision.run) return world.log.debug("heartbeat left out", { agentId, because: decision.because });
  const rights = world.agents.rightsOf(agentId, chat);
  if (!rights) return world.log.warn("heartbeat left out", { agentId, because: "nobody may use this agent" });
  const text = [
    prompt,
    ...(checklist === null ? [] : [`The checklist:\n${checklist}`]),
    ...(state.news === null ? [] : [`${REPORTED}\n${state.news}`]),
  ];
  const about = { agentId, chat, rights, text: text.join("\n\n"), where: decision.in };
  const receipt = await world.receiver.put(entryOf(world, about), world.stop.signal);
  if (receipt.kind === "refused") return world.log.debug("heartbeat left out", { agentId, because: receipt.because });
  world.running.set(receipt.id, agentId);
}

async function decide(
  world: World,
  { agentId, activeHours, enabled, skipWhenBusy }: HeartbeatSettings,
  about: { readonly chat: SessionChat; readonly checklist: string | null; readonly refusals: number },
): Promise<HeartbeatDecision> {
  const { chat, checklist, refusals } = about;
  const now = world.clock.now();
  const heard = await world.store.sessionChats.of(chat.sessionKey);
  const mine = chat.agentId === agentId;
  const facts: HeartbeatFacts = {
    enabled,
    skipWhenBusy,
    checklist,
    refusals,
    activeHours,
    minuteOfDay: minuteOfDay(now, activeHours.timezone ?? hostZone()),
    busy: world.busy(chat.sessionKey),
    events: mine ? await world.store.systemEvents.waiting(chat.sessionKey, now) : 0,
    idleMs: heard ? Math.max(0, now - heard.heardAt) : null,
    unpaid: world.agents.unpaid(agentId),
  };
  return decideHeartbeat(facts);
}

interface HeartbeatRun {
  readonly agentId: AgentId;
  readonly chat: SessionChat;
  readonly rights: HeartbeatRights;
  readonly text: string;
  readonly where: "main" | "isolated";
}

function entryOf({ clock, agents }: World, { agentId, chat, rights, text, where }: HeartbeatRun): InternalMessage {
  const now = clock.now();
  const main = where === "main";
  const isolated = { jobId: HEARTBEAT, delivery: "direct", session: chat.sessionKey } as const;
  const message = internalMessage({
    eventId: `heartbeat:${agentId}:${now}`,
    address: main ? chat.to : toRunAddress(isolated, CRON_CHANNEL),
    scope: main ? chat.scope : "dm",
    sender: { principal: rights.principal, name: "Heartbeat" },
    text,
    receivedAt: now,
    origin: "heartbeat",
  });
  const sessionKey = main ? chat.sessionKey : agents.sessionOf(agentId, String(now));
  return { sessionKey, agentId, role: rights.role, priority: PRIORITY, message };
}

/** Never rejects: what cannot be read or told is left to the next heartbeat. */
async function settle(world: World, id: InboxId): Promise<void> {
  const agentId = world.running.get(id);
  world.running.delete(id);
  if (agentId === undefined) return;
  const state = world.states.get(agentId);
  const result = await world.store.turns.resultOf(id).catch(() => null); // only its end is of interest, and the next heartbeat looks anew
  if (!state || !result) return;
  if (result.outcome === "done") {
    state.refusals = 0;
    const news = result.content.trim();
    if (news !== "") state.news = news.slice(0, MAX_NEWS_CHARS).toWellFormed();
    return;
  }
  if (result.errorCode !== null && REFUSALS.includes(result.errorCode)) {
    if (state.refusals++ === 0) await tellRefused(world, agentId, result.errorCode);
    return;
  }
  if (result.outcome === "aborted" || result.errorCode === "budget_spent" || state.retriesLeft <= 0) return;
  state.retriesLeft--;
  state.againAt = world.clock.elapsed() + RETRY_MS;
}

async function tellRefused({ clock, log, tellRefused: tell }: World, agentId: AgentId, code: string): Promise<void> {
  try {
    await tell({ agentId, code, at: clock.now() });
  } catch (error) {
    log.error("owner could not be told about a heartbeat", { agentId, code, error });
  }
}
