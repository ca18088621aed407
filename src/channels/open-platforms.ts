/**
 * Opens the platforms that the configuration enables, each by itself: one that does not open, or hangs, or dies shows in the status, is
 * tried again, and hurts nobody else. A reload touches only what changed.
 */
import type { Channel } from "../contracts/channel.ts";
import type { ChannelAccessSettings } from "../contracts/channels/access.ts";
import type { OpenChannel, Platform, PlatformDeps, Webhook } from "../contracts/channels/platform.ts";
import type { Config } from "../config/index.ts";
import { sameSettings } from "../config/index.ts";
import { orAborted } from "../kit/deferred.ts";
import { accessOf, checkPlugin, fenced, type PluginPlatform } from "./plugin-platform.ts";
import { accountAt, type ChannelHealth, createSwitchboard, healthOf } from "./switchboard.ts";

/** A platform as the gateway's list names it. Its code is loaded when it is opened. */
export interface PlatformEntry {
  readonly id: string;
  /** What it is opened with; null: it is off. When this changes it is closed and opened again. */
  settings(config: Config): unknown;
  load(config: Config): Promise<Platform>;
}

export interface Platforms extends AsyncDisposable {
  /** Closes what is off now, opens what is on, and replaces what changed; the rest goes on undisturbed. One at a time; never rejects. */
  apply(config: Config): Promise<void>;
  /** One that is not in the configuration: opened after the first `apply`, and closed when it is disposed. Throws when its id is taken. */
  add(platform: PluginPlatform): AsyncDisposable;
  /** Another gateway may have given back what it received for: those that wait for that ask now. */
  tryAgain(): void;
  /** Who may write to those that were added, by id. */
  access(): Readonly<Record<string, ChannelAccessSettings>>;
  /** Also while it is not open, as long as it is on: replies to it wait. */
  channel(id: string): Channel | undefined;
  channels(): readonly Channel[];
  /** An account of it is connected here. */
  isOpen(id: string): boolean;
  health(): readonly ChannelHealth[];
  /** The account behind a line of `health`; undefined: there is none. */
  accountOf(line: string): string | undefined;
  webhook(path: string): Webhook | null;
}

/** Whether this gateway is the one that receives for a platform. `held`: another one does, by this name. */
export type HoldPlatform = (
  id: string,
) => Promise<(Hold & { readonly kind: "mine" }) | { readonly kind: "held"; readonly by: string }>;

interface Hold {
  /** Gives the platform back to other gateways. */
  release(): Promise<void>;
  /** Whether there is another gateway that could receive for it; null: there never is. */
  readonly isWanted: (() => boolean) | null;
}

interface PlatformOptions {
  /** For ids that no plugin may have, besides those of the entries. */
  isTaken?(id: string): boolean;
  /** Asked before a platform is opened: two that receive for one bot would take its messages from each other. */
  readonly hold?: HoldPlatform;
}

const ALONE: HoldPlatform = async () => ({ kind: "mine", release: async () => undefined, isWanted: null });

interface Standing {
  readonly entry: PlatformEntry;
  readonly settings: unknown;
  readonly config: Config;
  readonly stopping: AbortController;
  readonly hold: HoldPlatform;
  open: readonly OpenChannel[];
  channel: Channel;
  trouble: string | null;
  /** Null: this gateway does not have it. */
  held: Hold | null;
  /** The last question whether this gateway receives for it: its answer may come after the stop, and is given back then. */
  asking: Promise<unknown>;
  /** Ends the pause before the next try; null: there is none. */
  endPause: (() => void) | null;
  /** Opening, and opening again. Ends when it is open or was stopped. */
  work: Promise<void>;
}

export const OPEN_MS = 30_000;
const CLOSE_MS = 5_000;
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 300_000;
const LOOK_MS = 5_000;
/** After so long without a connection to the platform, another gateway tries. */
const OUT_OF_REACH_MS = 30_000;
/** Longer than the others pause before they ask for it again. */
const GIVEN_AWAY_MS = 15_000;
const MAX_DETAIL_CHARS = 200;
const OPENING = "connecting";

export function createPlatforms(
  deps: PlatformDeps,
  entries: readonly PlatformEntry[],
  { isTaken = () => false, hold = ALONE }: PlatformOptions = {},
): Platforms {
  const standing = new Map<string, Standing>();
  const plugins = createPluginPlatforms((id) => isTaken(id) || entries.some((entry) => entry.id === id));
  let applied: Config | null = null;
  let ended = false;
  let queue: Promise<void> = Promise.resolve();

  const end = async (id: string): Promise<void> => {
    const one = standing.get(id);
    if (!one) return;
    await close(deps, one);
    standing.delete(id);
  };
  const applyNow = async (config: Config): Promise<void> => {
    const wanted = [...entries, ...plugins.entries()];
    for (const id of standing.keys()) if (!wanted.some((entry) => entry.id === id)) await end(id);
    for (const entry of wanted) {
      const now = entry.settings(config);
      const before = standing.get(entry.id);
      if (before && sameSettings(before.settings, now)) continue;
      await end(entry.id);
      if (now !== null) standing.set(entry.id, begin(deps, entry, config, hold));
    }
    deps.events.emit("status", { what: "channels" });
  };

  const apply = (config: Config): Promise<void> => {
    if (ended) return queue; // a plugin that goes after this opens nothing again
    applied = config;
    queue = queue
      .then(() => applyNow(config))
      .catch((error: unknown) => deps.log.error("settings of channels could not be applied", { error }));
    return queue;
  };
  /** Never rejects. */
  const applyAgain = async (): Promise<void> => {
    if (applied) await apply(applied);
  };

  return {
    apply,
    add(platform) {
      const listed = plugins.list(platform);
      void applyAgain();
      return {
        async [Symbol.asyncDispose]() {
          listed[Symbol.dispose]();
          await applyAgain();
        },
      };
    },
    tryAgain: () => endPauses([...standing.values()]),
    access: plugins.access,
    channel: (id) => standing.get(id)?.channel,
    channels: () => [...standing.values()].map(({ channel }) => channel),
    isOpen: (id) => (standing.get(id)?.open.length ?? 0) > 0,
    health: () => [...standing.values()].flatMap(({ entry, open, trouble }) => healthOf(entry.id, open, trouble)),
    accountOf: (line) => accountIn([...standing.values()], line),
    webhook: (path) => webhookAt([...standing.values()], path),
    async [Symbol.asyncDispose]() {
      ended = true;
      await queue;
      await Promise.all([...standing.keys()].map(end));
    },
  };
}

/** Those that are in no configuration, while what brought them is there. */
function createPluginPlatforms(isTaken: (id: string) => boolean) {
  const plugins = new Map<string, { readonly entry: PlatformEntry; readonly access: ChannelAccessSettings }>();
  let count = 0;
  return {
    entries: (): readonly PlatformEntry[] => [...plugins.values()].map(({ entry }) => entry),
    access: () => Object.fromEntries([...plugins].map(([id, { access }]) => [id, access])),
    list(platform: PluginPlatform): Disposable {
      const { id } = platform;
      checkPlugin(platform, (wanted) => isTaken(wanted) || plugins.has(wanted));
      const number = ++count; // as its settings: one that comes back is opened anew
      const entry: PlatformEntry = { id, settings: () => number, load: async () => fenced(platform) };
      plugins.set(id, { entry, access: accessOf(id, platform.access) });
      return {
        [Symbol.dispose]() {
          if (plugins.get(id)?.entry === entry) plugins.delete(id);
        },
      };
    },
  };
}

function begin(deps: PlatformDeps, entry: PlatformEntry, config: Config, hold: HoldPlatform): Standing {
  const one: Standing = {
    entry,
    config,
    settings: entry.settings(config),
    stopping: new AbortController(),
    hold,
    open: [],
    channel: createSwitchboard(entry.id, [], OPENING),
    trouble: OPENING,
    held: null,
    asking: Promise.resolve(),
    endPause: null,
    work: Promise.resolve(),
  };
  one.work = keepTrying(deps, one);
  return one;
}

/** Ends when it is open for good, or was stopped. */
async function keepTrying(deps: PlatformDeps, one: Standing): Promise<void> {
  const { signal } = one.stopping;
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    if (!(await takeHold(deps, one)))
      pauseMs = FIRST_PAUSE_MS; // the other gateway may end at any time
    else if (await tryToOpen(deps, one)) {
      await untilOutOfReach(deps, one);
      if (signal.aborted || !one.held?.isWanted) return;
      one.trouble = "this gateway cannot reach it; another one tries";
      await closeOpen(deps, one, one.trouble);
    }
    if (one.held?.isWanted?.() && !signal.aborted) {
      await giveAway(deps, one);
      pauseMs = Math.max(pauseMs, GIVEN_AWAY_MS);
    }
    deps.events.emit("status", { what: "channels" });
    await pause(deps, one, pauseMs);
  }
}

/** Until none of its accounts had a connection for a while though another gateway might have one, or it is stopped. Alone, at once. */
async function untilOutOfReach({ clock }: PlatformDeps, { held, open, stopping }: Standing): Promise<void> {
  const isWanted = held?.isWanted;
  if (!isWanted) return;
  const { signal } = stopping;
  let reachedAt = clock.elapsed();
  while (!signal.aborted && clock.elapsed() - reachedAt < OUT_OF_REACH_MS) {
    await clock.sleep(LOOK_MS, signal).catch(() => undefined); // being stopped is the normal end
    if (!isWanted() || open.some(isConnected)) reachedAt = clock.elapsed();
  }
}

/** A channel that cannot even say so is not. */
function isConnected(channel: OpenChannel): boolean {
  try {
    return channel.ready() || channel.health().ok;
  } catch {
    return false;
  }
}

/** Of those that another gateway receives for. */
function endPauses(standing: readonly Standing[]): void {
  for (const { held, endPause } of standing) if (held === null) endPause?.();
}

/** Being stopped, or told to try again, ends it early. */
async function pause({ clock }: PlatformDeps, one: Standing, ms: number): Promise<void> {
  const early = new AbortController();
  one.endPause = () => early.abort(new Error("tried again"));
  await clock.sleep(ms, AbortSignal.any([one.stopping.signal, early.signal])).catch(() => undefined);
  one.endPause = null;
}

/** Never rejects. False: another gateway receives for it, or it cannot be asked. */
async function takeHold({ log }: PlatformDeps, one: Standing): Promise<boolean> {
  if (one.held) return true;
  try {
    const asking = one.hold(one.entry.id).then((held) => {
      if (held.kind === "mine") one.held = held;
      return held;
    });
    one.asking = asking;
    const held = await orAborted(asking, one.stopping.signal);
    if (held.kind === "mine") return true;
    one.trouble = `another gateway receives for it (${held.by})`;
  } catch (error) {
    if (one.stopping.signal.aborted) return false;
    one.trouble = "the database cannot be asked which gateway receives for it";
    log.warn("platform did not open", { platform: one.entry.id, error });
  }
  one.channel = createSwitchboard(one.entry.id, [], one.trouble);
  return false;
}

async function tryToOpen(deps: PlatformDeps, one: Standing): Promise<boolean> {
  const { entry, config, stopping } = one;
  using limit = deps.clock.deadline(OPEN_MS, () => new Error(`not open within ${OPEN_MS / 1_000} s`));
  const until = AbortSignal.any([stopping.signal, limit.signal]);
  const opening = Promise.try(() => entry.load(config)).then((platform) => platform.open(deps, until));
  try {
    const open = await orAborted(opening, until);
    one.open = open;
    one.trouble = null;
    one.channel = createSwitchboard(entry.id, open, null);
    deps.log.info("platform open", { platform: entry.id, accounts: open.map(({ account }) => account) });
    deps.events.emit("status", { what: "channels" });
    return true;
  } catch (error) {
    // What opens after we stopped waiting for it must not stay behind.
    void opening.then((late) => closeAll(deps, late)).catch(() => undefined); // it failed, which is known already
    if (stopping.signal.aborted) return false;
    one.trouble = (error instanceof Error ? error.message : "it did not open").slice(0, MAX_DETAIL_CHARS);
    one.channel = createSwitchboard(entry.id, [], one.trouble);
    deps.log.warn("platform did not open", { platform: entry.id, error });
    return false;
  }
}

async function close(deps: PlatformDeps, one: Standing): Promise<void> {
  one.stopping.abort(new Error("platform closed"));
  await one.work;
  await closeOpen(deps, one, "closed");
  await giveBack(deps, one);
}

async function closeOpen(deps: PlatformDeps, one: Standing, trouble: string): Promise<void> {
  const { open } = one;
  one.open = [];
  one.channel = createSwitchboard(one.entry.id, [], trouble);
  await closeAll(deps, open);
}

/** It could not be opened here, or not be reached. Never rejects. */
async function giveAway(deps: PlatformDeps, one: Standing): Promise<void> {
  deps.log.warn("platform is left to another gateway", { platform: one.entry.id, because: one.trouble });
  await giveBack(deps, one);
  one.held = null;
}

/** Waits for an answer that is under way, but not for long: unheard, it would keep the platform from every other gateway. Never rejects. */
async function giveBack(deps: PlatformDeps, one: Standing): Promise<void> {
  using limit = deps.clock.deadline(CLOSE_MS, () => new Error("the database does not answer"));
  await orAborted(one.asking, limit.signal).catch(() => undefined); // then there is nothing to give back
  await one.held?.release().catch((error: unknown) => {
    deps.log.warn("platform could not be given back to other gateways", { platform: one.entry.id, error });
  });
}

/** Beside each other, and none of them for long: what does not close is left to the end of the process. */
async function closeAll(deps: PlatformDeps, open: readonly OpenChannel[]): Promise<void> {
  using limit = deps.clock.deadline(CLOSE_MS, () => new Error("it did not close in time"));
  await Promise.all(
    open.map(async (channel) => {
      const { id, account } = channel;
      const closing = Promise.resolve().then(() => channel[Symbol.asyncDispose]());
      await orAborted(closing, limit.signal).catch((error: unknown) =>
        deps.log.warn("channel did not close cleanly", { channel: id, account, error }),
      );
    }),
  );
}

function webhookAt(standing: readonly Standing[], path: string): Webhook | null {
  const all = standing.flatMap(({ open }) => open);
  return all.find(({ webhook }) => webhook?.path === path)?.webhook ?? null;
}

function accountIn(standing: readonly Standing[], line: string): string | undefined {
  return standing.map(({ entry, open }) => accountAt(line, entry.id, open)).find((account) => account !== undefined);
}
