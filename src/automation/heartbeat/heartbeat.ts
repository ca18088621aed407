/**
 * Lets agents look around from time to time. A beat is a message in the same inbox as everything else, of the lowest priority; jobs have a
 * clock of their own and never wait for it. Nothing is kept: a beat that fell into a stop is simply left out.
 */
import type { InternalMessage, InternalReceiver } from "../../contracts/automation/internal-message.ts";
import type { SystemEventStore } from "../../contracts/automation/system-event.ts";
import type { Events } from "../../contracts/events.ts";
import type { AgentId, InboxId, Principal, Role, SessionKey } from "../../contracts/ids.ts";
import type { TurnStore } from "../../contracts/store.ts";
import type { SessionChatStore } from "../../contracts/store/session-chats.ts";
import { type Clock, hostZone } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { SessionChat, SessionChats } from "../../contracts/channels/session-chats.ts";
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
  tellRefused?(refusal: HeartbeatRefusal): Promise<void>;
}

interface HeartbeatStore {
  readonly turns: Pick<TurnStore, "resultOf">;
  readonly places: Pick<SessionChatStore, "of">;
  readonly systemEvents: Pick<SystemEventStore, "waiting">;
}

/** What a heartbeat has to know of the agent that it wakes. */
interface HeartbeatAgents {
  /** The agent's HEARTBEAT.md; null: there is none. */
  checklist(agentId: AgentId): Promise<string | null>;
  /** As whom an agent looks around; null: nobody may use it. */
  standing(agentId: AgentId, home: SessionChat): { readonly principal: Principal; readonly role: Role } | null;
  sessionOf(agentId: AgentId, beat: string): SessionKey;
  /** There is no money for it. Absent: nobody counts. */
  unpaid?(agentId: AgentId): boolean;
}

export interface HeartbeatRefusal {
  readonly agentId: AgentId;
  readonly code: string;
  readonly at: number;
}

/** How one agent looks around. */
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
/** What trying again does not mend. */
const REFUSALS: readonly (string | null)[] = [
  ...["provider_auth", "provider_unpaid", "provider_refused", "model_missing", "agent_missing"],
];

const PROMPT =
  "Heartbeat: look whether something needs attention now. Do not take up old tasks again. If nothing does, reply with HEARTBEAT_OK and nothing else.";

/** A run in a fresh session does not remember what the run before has said. */
const REPORTED = "Reported already; do not report it again unless it has changed:";
const MAX_NEWS_CHARS = 2_000;

interface Pulse {
  dueAt: number;
  retriesLeft: number;
  refusals: number;
  /** When a failed one is tried once more. */
  againAt: number;
  /** What the owner was told last; null: nothing since the start. */
  news: string | null;
}

interface World extends HeartbeatDeps {
  readonly settings: () => readonly HeartbeatSettings[];
  readonly pulses: Map<AgentId, Pulse>;
  readonly running: Map<InboxId, AgentId>;
  readonly stop: AbortController;
}

/** `settings` are asked for each time, so that a changed configuration holds from the next look on. */
export function startHeartbeat(deps: HeartbeatDeps, settings: () => readonly HeartbeatSettings[]): Heartbeat {
  const world: World = { ...deps, settings, pulses: new Map(), running: new Map(), stop: new AbortController() };
  const { signal } = world.stop;
  let rung = Promise.withResolvers<void>();
  const listening = deps.events.on("turn.ended", ({ inboxIds, outcome }) => {
    for (const id of inboxIds) if (world.running.has(id)) return void settle(world, id);
    if (outcome === "done") for (const pulse of world.pulses.values()) pulse.refusals = 0; // a provider that answers is mended
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

/** Beats where one is due; says how long until the next may be. */
async function step(world: World): Promise<number> {
  const now = world.clock.elapsed();
  let next = now + MAX_SLEEP_MS;
  const all = world.settings();
  const beating = new Set(all.flatMap(({ enabled, agentId }) => (enabled ? [agentId] : [])));
  for (const agentId of world.pulses.keys()) if (!beating.has(agentId)) world.pulses.delete(agentId);
  for (const settings of all) {
    const { agentId, enabled, every, retries } = settings;
    if (!enabled) continue;
    const pulse = world.pulses.get(agentId) ?? {
      dueAt: now + every,
      retriesLeft: retries,
      refusals: 0,
      againAt: Infinity,
      news: null,
    };
    world.pulses.set(agentId, pulse);
    pulse.dueAt = Math.min(pulse.dueAt, now + every); // the interval was made shorter
    const due = pulse.dueAt <= now;
    const again = pulse.againAt <= now;
    if (due) {
      pulse.retriesLeft = retries;
      pulse.dueAt += every * Math.max(1, Math.ceil((now - pulse.dueAt + 1) / every)); // what fell into a sleep is left out
    }
    if (due || again) {
      pulse.againAt = Infinity;
      await beat(world, settings, pulse);
    }
    next = Math.min(next, pulse.dueAt, pulse.againAt);
  }
  return Math.max(0, next - now);
}

async function beat(world: World, settings: HeartbeatSettings, pulse: Pulse): Promise<void> {
  const { agentId, withoutChecklist, prompt = PROMPT } = settings;
  if ([...world.running.values()].includes(agentId)) return; // the one before has not ended
  const checklist = await world.agents.checklist(agentId);
  if (!withoutChecklist && checklist === null) return;
  const home = await world.sessionChats.ofOwner();
  const decision = await decide(world, settings, { home, checklist, refusals: pulse.refusals });
  if (!decision.beat) return world.log.debug("heartbeat left out", { agentId, because: decision.because });
  const standing = world.agents.standing(agentId, home);
  if (!standing) return world.log.warn("heartbeat left out", { agentId, because: "nobody may use this agent" });
  const text = [
    prompt,
    ...(checklist === null ? [] : [`The checklist:\n${checklist}`]),
    ...(pulse.news === null ? [] : [`${REPORTED}\n${pulse.news}`]),
  ];
  const about = { agentId, home, standing, text: text.join("\n\n"), where: decision.in };
  const receipt = await world.receiver.put(entryOf(world, about), world.stop.signal);
  if (receipt.kind === "refused") return world.log.debug("heartbeat left out", { agentId, because: receipt.because });
  world.running.set(receipt.id, agentId);
}

async function decide(
  world: World,
  { agentId, activeHours, enabled, skipWhenBusy }: HeartbeatSettings,
  about: { readonly home: SessionChat; readonly checklist: string | null; readonly refusals: number },
): Promise<HeartbeatDecision> {
  const { home, checklist, refusals } = about;
  const now = world.clock.now();
  const heard = await world.store.places.of(home.sessionKey);
  const mine = home.agentId === agentId;
  const facts: HeartbeatFacts = {
    enabled,
    skipWhenBusy,
    checklist,
    refusals,
    activeHours,
    minuteOfDay: minuteOfDay(now, activeHours.timezone ?? hostZone()),
    busy: world.busy(home.sessionKey),
    events: mine ? await world.store.systemEvents.waiting(home.sessionKey, now) : 0,
    idleMs: heard ? Math.max(0, now - heard.heardAt) : null,
    unpaid: world.agents.unpaid?.(agentId) ?? false,
  };
  return decideHeartbeat(facts);
}

interface BeatAbout {
  readonly agentId: AgentId;
  readonly home: SessionChat;
  readonly standing: { readonly principal: Principal; readonly role: Role };
  readonly text: string;
  readonly where: "main" | "isolated";
}

function entryOf({ clock, agents }: World, { agentId, home, standing, text, where }: BeatAbout): InternalMessage {
  const now = clock.now();
  const eventId = `heartbeat:${agentId}:${now}`;
  const main = where === "main";
  const message = {
    eventId,
    fingerprint: eventId,
    quoted: [],
    attachments: [],
    mentioned: true,
    receivedAt: now,
    origin: "heartbeat",
    address: main
      ? home.to
      : toRunAddress({ jobId: HEARTBEAT, delivery: "direct", home: home.sessionKey }, CRON_CHANNEL),
    scope: main ? home.scope : "dm",
    sender: { principal: standing.principal, name: "Heartbeat" },
    text,
  } as const;
  const sessionKey = main ? home.sessionKey : agents.sessionOf(agentId, String(now));
  return { sessionKey, agentId, role: standing.role, priority: PRIORITY, message };
}

async function settle(world: World, id: InboxId): Promise<void> {
  const agentId = world.running.get(id);
  world.running.delete(id);
  if (agentId === undefined) return;
  const pulse = world.pulses.get(agentId);
  const result = await world.store.turns.resultOf(id).catch(() => null); // only its end is of interest, and the next beat looks anew
  if (!pulse || !result) return;
  if (result.outcome === "done") {
    pulse.refusals = 0;
    const news = result.content.trim();
    if (news !== "") pulse.news = news.slice(0, MAX_NEWS_CHARS).toWellFormed();
    return;
  }
  if (result.errorCode !== null && REFUSALS.includes(result.errorCode)) {
    if (pulse.refusals++ === 0) await tellRefused(world, agentId, result.errorCode);
    return;
  }
  if (result.outcome === "aborted" || result.errorCode === "budget_spent" || pulse.retriesLeft <= 0) return;
  pulse.retriesLeft--;
  pulse.againAt = world.clock.elapsed() + RETRY_MS;
}

async function tellRefused({ clock, log, tellRefused: tell }: World, agentId: AgentId, code: string): Promise<void> {
  try {
    await tell?.({ agentId, code, at: clock.now() });
  } catch (error) {
    log.error("owner could not be told about a heartbeat", { agentId, code, error });
  }
}
