/**
 * The queue of one gateway, made part of that of all: a message goes to the home of its session, wherever it arrives, behind those that arrived
 * before it. It has its id before it is handed over, so one whose answer was lost is found again, and is never stored twice.
 */
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import type { InboxId, InstanceId } from "../contracts/ids.ts";
import type { OtherNodes } from "../contracts/nodes.ts";
import type { Accepted, Queue, QueueEntry } from "../contracts/queue.ts";
import type { InboxStore } from "../contracts/store/inbox.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import { createArrivals } from "./arrivals.ts";
import type { SessionHomes } from "./session-homes.ts";

interface SharedQueueDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly nodes: Pick<OtherNodes, "ask" | "answer">;
  readonly homes: SessionHomes;
  readonly inbox: Pick<InboxStore, "nodeOf">;
  readonly me: InstanceId;
}

/** A home that has died is taken over from within 12 s. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 250;

/** `own`: the lanes of this gateway. */
export function createSharedQueue(own: Queue, deps: SharedQueueDeps): Queue {
  const { nodes, homes } = deps;
  const arrivals = createArrivals();
  return {
    ...own,
    /** Others are answered from then on: what was left comes before what they have. */
    async recover() {
      const recovered = await own.recover();
      answerOthers(own, deps);
      return recovered;
    },
    async accept(entry, id) {
      using limit = deps.clock.deadline(PATIENCE_MS, noHome);
      const { signal } = limit;
      const place = (placed: () => void): Promise<Accepted> => {
        const known = id ?? (deps.ids.next("msg") as InboxId); // in its turn: ids grow in the order in which messages are stored
        return acceptAtHome(own, deps, { entry, id: known, placed }, signal);
      };
      return await arrivals.inOrder(entry.sessionKey, place, signal);
    },
    async cancel(id, by, end) {
      const node = await otherWith(deps, id);
      return node === null ? own.cancel(id, by, end) : nodes.ask(node, "queue.cancel", { id, by, end });
    },
    async rewrite(id, by, text) {
      const node = await otherWith(deps, id);
      return node === null ? own.rewrite(id, by, text) : nodes.ask(node, "queue.rewrite", { id, by, text });
    },
    async abort(sessionKey) {
      const node = await homes.elsewhere(sessionKey);
      return node === null ? own.abort(sessionKey) : nodes.ask(node, "queue.abort", { sessionKey });
    },
  };
}

/** So much more has to wait here that moving its file is worth it. */
const MUCH_MORE = 4;

/** Whether a session should go on at the gateway that has a message for it: nothing goes on in it here, and less waits there. */
export function shouldMove(waiting: { readonly here: number; readonly there: number }, isBusy: boolean): boolean {
  return !isBusy && waiting.here >= waiting.there + MUCH_MORE;
}

function answerOthers(own: Queue, { nodes, homes }: SharedQueueDeps): void {
  nodes.answer("queue.accept", async ({ id, entry, waiting }, from) => {
    const { sessionKey } = entry;
    const load = { here: own.stats().waiting, there: waiting };
    if (shouldMove(load, own.isBusy(sessionKey)) && (await homes.giveUp(sessionKey))) throw moved(from);
    const done = await homes.here(entry.sessionKey, () => own.accept(entry, id));
    if (done.kind === "done") return done.value;
    throw moved(done.node); // given back since it was asked for
  });
  nodes.answer("queue.cancel", ({ id, by, end }) => own.cancel(id, by, end));
  nodes.answer("queue.rewrite", ({ id, by, text }) => own.rewrite(id, by, text));
  nodes.answer("queue.abort", ({ sessionKey }) => own.abort(sessionKey));
}

interface Arriving {
  readonly entry: QueueEntry;
  readonly id: InboxId;
  /** What arrived after it may follow. */
  placed(): void;
}

async function acceptAtHome(
  own: Queue,
  deps: SharedQueueDeps,
  { entry, id, placed }: Arriving,
  signal: AbortSignal,
): Promise<Accepted> {
  const { clock, nodes, homes } = deps;
  const acceptHere = (): Promise<Accepted> => {
    const accepting = own.accept(entry, id);
    placed(); // its place in the lane is decided, before it is stored
    return accepting;
  };
  for (let attempt = 1; ; attempt++) {
    // the gateway that was asked before may have stored it, and died before it could say so
    if (attempt > 1 && (await deps.inbox.nodeOf(id)) !== null) return { kind: "queued", id, position: 0 };
    const at = await homes.here(entry.sessionKey, acceptHere);
    if (at.kind === "done") return at.value;
    try {
      const { waiting } = own.stats();
      return await nodes.ask(at.node, "queue.accept", { id, entry, waiting });
    } catch (error) {
      if (!isGatewayError(error) || error.code !== "node_silent") throw error;
    }
    await clock.sleep(PAUSE_MS, signal);
  }
}

function noHome(): GatewayError {
  return new GatewayError("node_silent", "no gateway took the message");
}

/** The gateway in whose lanes a message waits, unless it is this one. */
async function otherWith({ inbox, me }: SharedQueueDeps, id: InboxId): Promise<InstanceId | null> {
  const node = await inbox.nodeOf(id);
  return node === me ? null : node;
}

function moved(node: InstanceId): GatewayError {
  return new GatewayError("node_silent", "the session lives elsewhere by now", { fields: { node } });
}
