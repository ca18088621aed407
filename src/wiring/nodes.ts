/** Other gateways on the same database: what is said between them, and what is seen of their work from here. */
import { createEvents } from "../observe/index.ts";
import type { Events } from "../contracts/events.ts";
import type { OtherNodes } from "../contracts/nodes.ts";
import type { Store } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import {
  createDrain,
  createOtherNodes,
  createSharedCounts,
  type Drain,
  followOtherNodes,
  type HeardWork,
  joinEvents,
  relayEvents,
  type SharedCounts,
  startBalance,
} from "../nodes/index.ts";
import type { Core } from "./core.ts";
import type { Messages } from "./messages.ts";
import type { Tools } from "./tools.ts";

export interface Nodes {
  readonly others: OtherNodes;
  readonly heard: HeardWork;
  readonly counts: SharedCounts;
  /** What happens at this gateway alone: for those who count, record, or act for plugins. */
  readonly ownEvents: Events;
  /** Told to whoever watches here, and to no other gateway. */
  readonly heardEvents: Pick<Events, "emit">;
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
  store: Pick<Store, "letters">,
): Nodes {
  const others = createOtherNodes({ ...deps, letters: store.letters });
  relayEvents(ownEvents, others);
  const heard = followOtherNodes({ ...deps, nodes: others, heard: heardEvents });
  const counts = createSharedCounts({ ...deps, nodes: others });
  return { others, heard, counts, ownEvents, heardEvents };
}

/** What this gateway stops with when it drains is told by `onBegin`. */
export function openDrain({ clock, log, store, nodes }: Core, { homes }: Pick<Messages, "homes">): Drain {
  return createDrain({ clock, log, nodes: store.nodes, others: nodes.others, homes });
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
