/**
 * The shipped parts from the receiver to the outbox in this process, with real pi and a channel that a test speaks for: groups, many
 * people, and whatever else the web console and the API cannot say. No port and no watcher; put together as gateway.ts does it.
 */
import { join, resolve } from "node:path";
import { agentProfiles, startPool } from "../../agents/index.ts";
import { testModelDoor } from "../test-model-door.ts";
import { checkConfigText, readEnvironment } from "../../config/index.ts";
import type { AgentPool } from "../../contracts/agent.ts";
import type { Channel, Receipt } from "../../contracts/channel.ts";
import type { InboundMessage } from "../../contracts/chat.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";
import type { Events } from "../../contracts/events.ts";
import type { Principal } from "../../contracts/ids.ts";
import type { Queue } from "../../contracts/queue.ts";
import type { Store } from "../../contracts/store.ts";
import { startOutbox } from "../../delivery/index.ts";
import { createLiveTurns, startTurns } from "../../flow/index.ts";
import { systemClock } from "../../kit/clock.ts";
import { type Deferred, deferred } from "../../kit/deferred.ts";
import { systemIds } from "../../kit/ids.ts";
import { Lifetime } from "../../kit/lifetime.ts";
import { silentLog } from "../../kit/log.ts";
import { createEvents } from "../../observe/index.ts";
import { createQueue } from "../../queue/index.ts";
import { createRouter } from "../../routing/index.ts";
import { openStore } from "../../store/index.ts";
import { quietTurns } from "../worlds/quiet-turns.ts";
import { quietReceiver } from "../worlds/quiet-receiver.ts";
import { quietGate } from "../tools/quiet-gate.ts";
import { bunEnvFor } from "../short-lived.ts";
import { tempHome } from "../temp-home.ts";
import { QUIET_OUTBOX } from "../worlds/quiet-outbox.ts";
import { storeUrlOf } from "../postgres/home-database.ts";

export interface InProcess extends AsyncDisposable {
  readonly store: Store;
  readonly pool: AgentPool;
  readonly queue: Queue;
  readonly events: Events;
  /** Hands a message in, as a channel does. */
  say(words: Words): Promise<Receipt>;
  /** Says it and resolves with the first reply part of its turn. */
  ask(words: Words): Promise<OutboxRow>;
}

interface Words {
  readonly text: string;
  readonly chat: string;
  readonly scope: "dm" | "group";
  readonly principal?: string;
}

const PLATFORM = "played";
const DEPS = { clock: systemClock, ids: systemIds, log: silentLog };
const NEVER = new AbortController().signal;
const BRIDGE = join(resolve(import.meta.dir, "../../.."), "dist", "bridge.js");
const AGENTS_STOP_MS = 15_000;
const SOMEBODY = "played:user:1";
/** Everybody may speak everywhere. */
const OPEN_DOORS: Parameters<typeof createRouter>[1] = {
  policyOf: () => ({
    dm: "open",
    allowFrom: ["*"],
    group: "open",
    requireMention: false,
    groupContext: { messages: 0, minutes: 1, chars: 0 },
    wakeOnReaction: false,
    groups: {},
  }),
  isPaired: () => false,
};

export async function startInProcess(
  given: unknown,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<InProcess> {
  const { config } = checkConfigText(JSON.stringify(given), () => undefined);
  if (!config) throw new Error("this configuration is not valid");
  const life = new Lifetime(DEPS);
  const home = life.own("home", await tempHome());
  const store = life.own("store", await openStore(DEPS, { home: home.path, url: await storeUrlOf(home.path) }));
  const events = createEvents(DEPS);
  const tools = quietGate({ ...DEPS, events, store: store.toolCalls }, []);
  const options = {
    home: home.path,
    config: config.agent,
    models: config.models,
    profiles: agentProfiles(config),
    environment: readEnvironment(environment),
    bridgePath: BRIDGE,
    bun: [process.execPath, "--no-env-file"],
    bunEnv: bunEnvFor(environment["PI_GATEWAY_PI"]),
  };
  const modelDoor = testModelDoor({ ...DEPS, events }, options);
  const pool = life.own("agents", await startPool({ ...DEPS, events, tools, modelDoor }, options), AGENTS_STOP_MS);
  const queue = createQueue({ ...DEPS, store, workKind: () => "talk" }, () => config.queue);
  const receiving = { ...DEPS, events, queue, router: createRouter(() => config, OPEN_DOORS) };
  const receiver = quietReceiver(receiving, config.queue);
  const replies = createReplies();
  const channels = new Map([[PLATFORM, replies.channel]]);
  const outbox = life.own("outbox", startOutbox({ ...DEPS, ...QUIET_OUTBOX, events, store: store.outbox, channels }));
  const live = createLiveTurns({ ...DEPS, events, queue });
  const limits = { timeoutMs: config.agent.timeoutMs, graceMs: config.gateway.stopGraceMs };
  life.own(
    "turns",
    startTurns(quietTurns({ ...DEPS, events, queue, pool, outbox, live, media: store.media }), () => limits),
  );
  events.on("turn.started", ({ turnId, inboxIds }) => replies.expect(turnId, inboxIds));

  const say = (words: Words): Promise<Receipt> => receiver.receive(toInbound(words), NEVER);
  return {
    store,
    pool,
    queue,
    events,
    say,
    async ask(words) {
      const receipt = await say(words);
      if (receipt.kind !== "queued") throw new Error(`not taken: ${JSON.stringify(receipt)}`);
      return replies.to(receipt.id);
    },
    [Symbol.asyncDispose]: () => life.stop("done"),
  };
}

function toInbound({ text, chat, scope, principal = SOMEBODY }: Words): InboundMessage {
  return {
    eventId: systemIds.next("event"),
    fingerprint: text,
    address: { channel: PLATFORM, account: "default", chat },
    scope,
    sender: { principal: principal as Principal, name: "Somebody" },
    text,
    quoted: [],
    attachments: [],
    mentioned: true,
    receivedAt: systemClock.now(),
  };
}

/** The platform: hands every reply to whoever waits for it, and keeps nothing. */
function createReplies() {
  const byMessage = new Map<string, Deferred<OutboxRow>>();
  const byTurn = new Map<string, readonly string[]>();
  const channel: Channel = {
    id: PLATFORM,
    repeat: "safe",
    canRefuse: true,
    async send(part) {
      for (const id of byTurn.get(part.turnId) ?? []) {
        byMessage.get(id)?.resolve(part);
        byMessage.delete(id);
      }
      byTurn.delete(part.turnId);
      return {};
    },
    ready: () => true,
    health: () => ({ ok: true, detail: "played" }),
  };
  return {
    channel,
    expect: (turnId: string, ids: readonly string[]) => void byTurn.set(turnId, ids),
    to(id: string): Promise<OutboxRow> {
      const waiting = deferred<OutboxRow>();
      byMessage.set(id, waiting);
      return waiting.promise;
    },
  };
}
