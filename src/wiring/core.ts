/** The ground that every other group stands on: configuration, events, the store, plugin hooks and the registry of channels. */
import { join } from "node:path";
import { type ChannelRegistry, createChannelRegistry, maskOut, type PlatformEntry } from "../channels/index.ts";
import type { Config, Environment, LoadedConfig } from "../config/index.ts";
import type { Events } from "../contracts/events.ts";
import type { Sandbox } from "../contracts/sandbox.ts";
import type { Store } from "../contracts/store.ts";
import type { ConsoleAssets } from "../http/index.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Lifetime } from "../kit/lifetime.ts";
import type { Log } from "../kit/log.ts";
import type { Secret, SecretMask } from "../kit/secret.ts";
import { createTopic, type Topic } from "../kit/topic.ts";
import { keepMemoryFlat, startTranscripts } from "../observe/index.ts";
import { createHooks, type PluginHooks, tellSent } from "../plugins/index.ts";
import type { ConfigSource } from "../reload.ts";
import { openStore } from "../store/index.ts";
import { createNodeEvents, type Nodes, openNodes } from "./nodes.ts";

export interface GatewayDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  setLogging(settings: Config["logging"]): void;
  /** The built MCP host; absent: the gateway does its work itself. */
  mcpHostPath?(): Promise<string>;
  /** Says that the start goes on, while something in it takes minutes. Absent: nobody waits for it. */
  startTakesLonger?(status: string): void;
  /** Absent: this gateway is not updated from inside. */
  readonly update?: UpdatePart;
  /** From now on this value is scrubbed from every log line. */
  hide(secret: Secret): Disposable | void;
  /** Takes the hidden values, and what looks like one, out of a text. */
  scrub(text: string): string;
  /** Takes the hidden values out of what people read. */
  readonly mask: SecretMask;
}

/** What an update needs of a start. */
interface UpdatePart {
  /** Everything is opened and then nothing is done: no turn, no job, no channel. */
  readonly isRehearsal: boolean;
  /** Called when everything is open and no message was accepted yet, in the same moment in which the port opened. */
  beforeFirstMessage(): void;
  /** Whether the next start is that of another version. */
  waits(): boolean;
}

export interface GatewayOptions {
  readonly home: string;
  readonly version: string;
  readonly environment: Environment;
  readonly console: ConsoleAssets;
  readonly bridgePath: string;
  /** Runs Bun, for the agent processes. */
  readonly bun: readonly string[];
  readonly bunEnv: Readonly<Record<string, string>>;
  /** The wall around agent processes. */
  readonly sandbox: Sandbox;
  readonly loaded: LoadedConfig;
  readonly configSource: ConfigSource;
  /** Instead of those that ship with the gateway. */
  readonly platforms?: readonly PlatformEntry[];
  /** Asks for a stop that is followed by a start. False: the supervisor cannot do that. */
  askRestart(): boolean;
}

export interface Core {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly secrets: Pick<GatewayDeps, "hide" | "scrub" | "mask">;
  readonly options: GatewayOptions;
  readonly config: () => Config;
  readonly events: Events;
  readonly store: Store;
  readonly hooks: PluginHooks;
  readonly nodes: Nodes;
  /** Filled by the groups that bring channels. */
  readonly channels: ChannelRegistry;
  /** Published when something was stored for the outbox; the outbox subscribes when it is there. */
  readonly outboxWake: Topic<void>;
}

/** What a group logs names the group, so that its lines can be read alone. */
export function ofModule(core: Core, module: string): Core {
  return { ...core, log: core.log.child({ module }) };
}

export async function openCore(
  life: Lifetime,
  deps: GatewayDeps,
  options: GatewayOptions,
  config: () => Config,
): Promise<Core> {
  const { clock, ids, log, hide, scrub, mask } = deps;
  const eventParts = createNodeEvents(deps);
  recordEvents(life, deps, { events: eventParts.ownEvents, config, home: options.home });
  const { home, version } = options;
  const { url, files, secret: shared } = config().store;
  const store = life.own("store", await openStore(deps, { home, version, url, files, shared }));
  const hooks = createHooks(deps);
  const nodes = openNodes(deps, eventParts, store);
  life.onStop("counts of rate limits", async () => nodes.counts[Symbol.dispose]());
  return {
    clock,
    ids,
    log,
    secrets: { hide, scrub, mask },
    options,
    config,
    events: eventParts.events,
    store,
    hooks,
    nodes,
    channels: createChannelRegistry((channel) => tellSent(hooks, maskOut({ mask }, channel))),
    outboxWake: createTopic<void>(),
  };
}

/** A readable record of what happens; it outlives every other part. */
function recordEvents(
  life: Lifetime,
  { clock, log, scrub }: GatewayDeps,
  { events, config, home }: { readonly events: Events; readonly config: () => Config; readonly home: string },
): void {
  const folder = join(home, "logs", "transcripts");
  const settings = () => {
    const { transcripts, retentionDays } = config().logging;
    return { ...transcripts, retentionDays };
  };
  life.own("transcripts", startTranscripts({ clock, log, events, scrub }, folder, settings));
  const memory = keepMemoryFlat({ clock, events });
  life.onStop("memory", () => memory[Symbol.dispose]());
}
