/** The slot of one plugin: brings what runs to what is wanted, one step at a time. Others do not notice how long that takes. */
import { errorText, isGatewayError } from "../../contracts/errors.ts";
import type { PluginState, PluginStatus } from "../../contracts/plugin.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { PluginHooks } from "../hooks.ts";
import type { PluginServices } from "./api.ts";
import { type PluginSource, type RunningPlugin, startPlugin } from "./plugin.ts";

export type Wanted =
  /** `key` tells whether what runs is still what is wanted. */
  | {
      readonly kind: "run";
      readonly key: string;
      readonly source: PluginSource;
      readonly about: About;
      /** Called when it is no longer needed. */
      cleanUp(): Promise<void>;
    }
  | {
      readonly kind: "stopped";
      readonly state: "available" | "disabled" | "failed";
      readonly about: About;
      readonly why: string | null;
    };

interface About {
  readonly builtin: boolean;
  readonly version: string | null;
  readonly folder: string | null;
  readonly digest: string | null;
}

export interface Slot {
  /** Resolves when it is so, or when something else is wanted by then. Never rejects. */
  want(wanted: Wanted): Promise<void>;
  /** It misbehaved: it is stopped and not started again before something about it changes. Never rejects. */
  fail(sentence: string): Promise<void>;
  /** What is wanted next is started, also when it is what runs already. */
  forgetStart(): void;
  /** Something to tell the owner about a plugin that goes on. */
  note(sentence: string): void;
  status(): PluginStatus;
  readonly running: RunningPlugin | null;
}

interface SlotDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly hooks: Pick<PluginHooks, "hold">;
  changed(): void;
}

const NOTHING: PluginStatus["provides"] = {
  tools: [],
  commands: [],
  hooks: [],
  routes: [],
  services: [],
  skills: [],
  channels: [],
  mcp: [],
};

interface SlotState {
  readonly id: string;
  readonly deps: SlotDeps;
  readonly services: PluginServices;
  wanted: Wanted | null;
  now: { readonly running: RunningPlugin; cleanUp(): Promise<void> } | null;
  /** The key of the last start, whether it worked or not. */
  tried: string;
  state: PluginState;
  trouble: string | null;
  since: number;
}

export function createSlot(deps: SlotDeps, services: PluginServices, id: string): Slot {
  const since = deps.clock.now();
  const slot: SlotState = {
    id,
    deps,
    services,
    wanted: null,
    now: null,
    tried: "",
    state: "available",
    trouble: null,
    since,
  };
  let working: Promise<void> | null = null;
  return {
    want(next) {
      slot.wanted = next;
      working ??= work(slot).finally(() => {
        working = null;
      });
      return working;
    },
    async fail(sentence) {
      await stop(slot);
      become(slot, "failed", sentence);
    },
    forgetStart: () => void (slot.tried = ""),
    note: (sentence) => become(slot, slot.state, sentence),
    status: () => statusOf(slot),
    get running() {
      return slot.now?.running ?? null;
    },
  };
}

/** Until nothing is left to do: a wish that comes meanwhile is met before this ends. */
async function work(slot: SlotState): Promise<void> {
  for (let goal = slot.wanted; goal; goal = slot.wanted) {
    if (goal.kind === "stopped") {
      await stop(slot);
      slot.tried = "";
      if (goal === slot.wanted) become(slot, goal.state, goal.why);
    } else if (goal.key !== slot.tried) {
      using _ = slot.now && slot.deps.hooks.hold(slot.id); // nothing slips past its checks between two versions
      await stop(slot);
      await start(slot, goal);
    }
    if (goal === slot.wanted) return;
  }
}

async function start(slot: SlotState, goal: Extract<Wanted, { kind: "run" }>): Promise<void> {
  const { deps, id } = slot;
  const began = deps.clock.elapsed();
  slot.tried = goal.key;
  become(slot, "loading", null);
  try {
    const running = await startPlugin(deps, slot.services, goal.source);
    slot.now = { running, cleanUp: goal.cleanUp };
    become(slot, "running", null);
    deps.log.info("plugin running", { plugin: id, ms: Math.round(deps.clock.elapsed() - began) });
  } catch (error) {
    deps.log.warn("plugin failed", { plugin: id, error });
    await goal.cleanUp().catch(() => undefined); // the files are cleared at the next start at the latest
    become(slot, "failed", isGatewayError(error) ? error.say : errorText(error));
  }
}

async function stop(slot: SlotState): Promise<void> {
  const { now: ending, deps, id } = slot;
  slot.now = null;
  if (!ending) return;
  await ending.running.stop();
  await ending.cleanUp().catch((error: unknown) => deps.log.warn("a plugin left files behind", { plugin: id, error }));
  deps.log.info("plugin stopped", { plugin: id });
}

function become(slot: SlotState, state: PluginState, trouble: string | null): void {
  if (state === slot.state && trouble === slot.trouble) return;
  Object.assign(slot, { state, trouble, since: slot.deps.clock.now() });
  slot.deps.changed();
}

function statusOf({ id, state, trouble, since, wanted, now, services }: SlotState): PluginStatus {
  const about = wanted?.about ?? { builtin: false, version: null, folder: null, digest: null };
  const toolNotices = toolNoticesOf(services, id);
  return { id, state, trouble, since, ...about, provides: now?.running.provides() ?? NOTHING, toolNotices };
}

function toolNoticesOf({ registry }: PluginServices, id: string): PluginStatus["toolNotices"] {
  const own = registry.list().filter(({ plugin }) => plugin === id);
  return own.flatMap(({ name: tool, reason, notices = [] }) => [
    ...(reason === undefined ? [] : [{ tool, quarantined: true, say: reason }]),
    ...notices.map((say) => ({ tool, quarantined: false, say })),
  ]);
}
