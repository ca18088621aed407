/** Hooks put together: the door for requests of other programs, and the channels that their words, and those of jobs, leave by. */
import type { Config } from "../config/index.ts";
import type { HookDoor } from "../contracts/automation/hook.ts";
import type { OwnReceiver } from "../contracts/automation/own-message.ts";
import type { SystemEvents } from "../contracts/automation/system-event.ts";
import type { Channel } from "../contracts/channel.ts";
import type { Outbox } from "../contracts/delivery.ts";
import type { SessionKey } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { systemResolver } from "../kit/outside/guarded-fetch.ts";
import { chooseSession, DEFAULT_AGENT, hookSessionKey, targetSessionKey } from "../routing/index.ts";
import {
  createCronChannel,
  createHookDoor,
  createTargetChannel,
  type HookNames,
  type Homes,
} from "../schedule/index.ts";

export interface HookSideParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: Pick<Store, "places" | "hookMarks" | "sessions">;
  readonly config: () => Config;
  readonly homes: Homes;
  readonly systemEvents: SystemEvents;
  /** Built later; asked for when something is begun. */
  receiver(): OwnReceiver;
  outbox(): Outbox;
}

export interface HookSide {
  readonly door: HookDoor;
  /** Of jobs, of hooks, and the one that posts. */
  readonly channels: readonly Channel[];
}

/** Messages of a chat in which a heartbeat's news are looked for before they are said again. */
const RECENT_ITEMS = 100;

export function createHookSide(parts: HookSideParts): HookSide {
  const { clock, store, config, homes, systemEvents, outbox } = parts;
  const recent = async (key: SessionKey) =>
    (await store.sessions.transcript(key, { limit: RECENT_ITEMS })).items.filter(({ role }) => role === "assistant");
  const runs = { clock, places: store.places, homes, systemEvents, outbox, targetSession: targetSessionKey, recent };
  const target = createTargetChannel({ clock, resolve: systemResolver }, () => config().hooks.targets);
  return {
    door: createHookDoor({ ...parts, marks: store.hookMarks, names: namesIn(config) }, () => config().hooks),
    channels: [createCronChannel(runs, "cron"), createCronChannel(runs, "hook"), target],
  };
}

function namesIn(config: () => Config): HookNames {
  return {
    isAgent: (id) => id === DEFAULT_AGENT || config().agents.some((agent) => agent.id === id),
    isTarget: (name) => Object.hasOwn(config().hooks.targets, name),
    isMapping: (name) => Object.hasOwn(config().hooks.mappings, name),
    sessionKey: (text) => chooseSession(config(), text, undefined)?.sessionKey ?? (text as SessionKey),
    sessionOf: hookSessionKey,
  };
}
