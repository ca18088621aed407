/** Other gateways on the same database: what is said between them, and what is seen of their work from here. */
import { createHash } from "node:crypto";
import { type Config, publicConfig } from "../config/index.ts";
import { createEvents } from "../observe/index.ts";
import type { Events, GatewayEvents } from "../contracts/events.ts";
import type { InstanceId } from "../contracts/ids.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { OtherNodes, SharedMemory } from "../contracts/nodes.ts";
import type { PluginHost } from "../contracts/plugin.ts";
import type { Store } from "../contracts/store.ts";
import type { ListedNode, NodeList, NodeWork } from "../contracts/store/nodes.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import {
  createDrain,
  createNodeVersions,
  createOtherNodes,
  createSharedCounts,
  differencesOf,
  type Drain,
  followOtherNodes,
  type HeardWork,
  joinEvents,
  type NodeVersionWatch,
  relayEvents,
  type SharedCounts,
  startBalance,
} from "../nodes/index.ts";
import type { Core } from "./core.ts";
import type { Messages } from "./messages.ts";
import type { Tools } from "./tools.ts";

/** So much of a digest tells two apart. */
const DIGEST_CHARS = 16;

export interface Nodes {
  readonly others: OtherNodes;
  readonly heard: HeardWork;
  readonly counts: SharedCounts;
  /** Whether all gateways have the same settings and plugins. */
  readonly versions: NodeVersionWatch;
  /** What happens at this gateway alone: for those who count, record, or act for plugins. */
  readonly ownEvents: Events;
  /** Told to whoever watches here, and to no other gateway. */
  readonly heardEvents: Pick<Events, "emit">;
  /** Called when another gateway has changed this, which waits until it is read. */
  onReload(what: SharedMemory, reload: () => Promise<void>): void;
}

interface NodesDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

interface EventParts {
  /** Emits here; hears what happens here and elsewhere. */
  readonly events: Events;
  readonly ownEvents: Events;
  readonly heardEvents: Events;
}

/** Before the store is open, which gives others a way to be heard. */
export function createNodeEvents(deps: Pick<NodesDeps, "log">): EventParts {
  const ownEvents = createEvents(deps);
  const heardEvents = createEvents(deps);
  return { events: joinEvents(ownEvents, heardEvents), ownEvents, heardEvents };
}

export function openNodes(
  deps: NodesDeps,
  { ownEvents, heardEvents }: EventParts,
  store: Pick<Store, "letters" | "nodes">,
): Nodes {
  const others = createOtherNodes({ ...deps, letters: store.letters });
  relayEvents(ownEvents, others);
  const heard = followOtherNodes({ ...deps, nodes: others, heard: heardEvents });
  const counts = createSharedCounts({ ...deps, nodes: others });
  const versions = createNodeVersions({ ...deps, nodes: store.nodes });
  return { others, heard, counts, versions, ownEvents, heardEvents, onReload: answerReloads(others) };
}

/** What nobody here has read yet cannot be read anew: the other gateway asks again a moment later. */
function answerReloads(others: Pick<OtherNodes, "answer">): Nodes["onReload"] {
  const reloads = new Map<SharedMemory, () => Promise<void>>();
  others.answer("reload", async ({ what }) => {
    const reload = reloads.get(what);
    if (!reload) throw new GatewayError("node_silent", `nobody reads ${what} here`);
    await reload();
    return null;
  });
  return (what, reload) => void reloads.set(what, reload);
}

/** What one gateway has in its memory alone. One that has ended has nothing, and one that does not answer counts as such. */
export async function anyOther(
  others: Pick<OtherNodes, "list">,
  ask: (node: InstanceId) => Promise<boolean>,
): Promise<boolean> {
  return (await Promise.all(others.list().map((node) => ask(node).catch(() => false)))).includes(true);
}

/** What this gateway stops with when it drains is told by `onBegin`. */
export function openDrain({ clock, log, store, nodes }: Core, { homes }: Pick<Messages, "homes">): Drain {
  return createDrain({ clock, log, nodes: store.nodes, others: nodes.others, homes });
}

/** Settings that belong to one machine: what others have there is no difference. */
const OF_ONE_MACHINE: readonly (keyof Config)[] = ["gateway", "logging", "store", "backup", "observe"];

/** Tells the others which settings and plugins are in force here, and compares. */
export function beginNodeVersions(
  { config, nodes: { versions, ownEvents } }: Core,
  plugins: Pick<PluginHost, "list">,
): AsyncDisposable {
  return versions.start({
    versions: () => ({ settings: settingsDigest(config()), plugins: pluginsDigest(plugins) }),
    onChange: (changed) =>
      ownEvents.on("status", ({ what }) => {
        if (isVersion(what)) changed();
      }),
  });
}

function isVersion(what: GatewayEvents["status"]["what"]): boolean {
  return what === "config" || what === "plugins";
}

/** Without secrets: a digest that others can read must not help to try them. */
function settingsDigest(config: Config): string {
  const shared = Object.entries(publicConfig(config) as object).filter(
    ([section]) => !OF_ONE_MACHINE.some((own) => own === section),
  );
  return digestOf(shared);
}

function pluginsDigest({ list }: Pick<PluginHost, "list">): string {
  const running = list().filter(({ state, builtin }) => state === "running" && !builtin);
  return digestOf(running.map(({ id, version, digest }) => `${id} ${version ?? ""} ${digest ?? ""}`).toSorted());
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, DIGEST_CHARS);
}

/** With what each has to do, and what is other there than here. */
export async function listNodes(
  { nodes, instanceId }: Pick<Store, "nodes" | "instanceId">,
  limit: number,
): Promise<NodeList> {
  const [all, work] = await Promise.all([nodes.list(limit), nodes.work()]);
  const self = all.find(({ id }) => id === instanceId);
  const items = all.map((node): ListedNode => {
    const { waiting = 0, running = 0, sessions = 0, platforms = [], heartbeat = false } = workOf(work, node.id);
    return { ...node, waiting, running, sessions, platforms, heartbeat, differs: differencesOf(node, self) };
  });
  return { items, self: instanceId };
}

function workOf(work: readonly NodeWork[], id: InstanceId): Partial<NodeWork> {
  return work.find(({ node }) => node === id) ?? {};
}

/** Waiting sessions go where less waits. Alone with its database, a gateway has nobody to give them to. */
export function beginBalance(
  { clock, log, store, nodes }: Core,
  { homes, queue }: Pick<Messages, "homes" | "queue">,
  drain: Pick<Drain, "onBegin">,
): AsyncDisposable | null {
  if (!homes) return null;
  let draining = false;
  drain.onBegin(() => void (draining = true));
  const leases = store.nodeLeases;
  return startBalance({ clock, log, nodes: nodes.others, homes, leases, queue, isDraining: () => draining });
}

/** A gateway that begins hears what is in the making here. */
export function sayWhatIsGoingOn({ others }: Nodes, { live }: Messages, { own }: Tools): void {
  others.answer("present", async () => ({
    turns: live.all(),
    approvals: own.approvals.pending(),
    questions: own.questions.pending(),
  }));
}
