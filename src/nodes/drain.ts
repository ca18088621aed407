/**
 * A gateway that drains takes no new sessions. It ends what it has, gives back what it holds, and then waits to be stopped, while others go on.
 * It goes on to answer where no other gateway is there to do it.
 */
import { GatewayError } from "../contracts/errors.ts";
import type { InstanceId } from "../contracts/ids.ts";
import type { OtherNodes } from "../contracts/nodes.ts";
import type { GatewayNode, NodeStore } from "../contracts/store/nodes.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { createTopic } from "../kit/topic.ts";
import type { SessionHomes } from "./session-homes.ts";

interface DrainDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly nodes: Pick<NodeStore, "self" | "list" | "drain">;
  readonly others: Pick<OtherNodes, "ask" | "answer">;
  /** Null: it is alone with its database. */
  readonly homes: Pick<SessionHomes, "drain" | "leave"> | null;
}

export interface Drain extends AsyncDisposable {
  /** A gateway by its id or its name; this one, or another. Its id. Throws `not_found`, `conflict` when nobody could go on with its work, or `node_silent`. */
  begin(asked: string): Promise<InstanceId>;
  /** Called once, when this gateway begins to drain. */
  onBegin(listener: () => void): Disposable;
}

const MAX_NODES = 1_000;
/** A session is given back within this time after its last turn. */
const LOOK_MS = 1_000;

type Verdict =
  | { readonly kind: "here" | "there"; readonly id: InstanceId }
  /** `alone`: no other gateway would go on with its work. */
  | { readonly kind: "unknown" | "gone" | "alone" };

/** A name is a machine and its process: those that have ended do not count, because the next one may have it again. */
export function judgeDrain(
  nodes: readonly Pick<GatewayNode, "id" | "name" | "state">[],
  asked: string,
  me: InstanceId,
): Verdict {
  const node =
    nodes.find(({ id }) => id === asked) ?? nodes.find(({ name, state }) => name === asked && state !== "gone");
  if (!node) return { kind: "unknown" };
  if (node.state === "gone") return { kind: "gone" };
  if (!nodes.some(({ id, state }) => id !== node.id && state === "live")) return { kind: "alone" };
  return { kind: node.id === me ? "here" : "there", id: node.id };
}

export function createDrain({ clock, log, nodes, others, homes }: DrainDeps): Drain {
  const me = nodes.self.id;
  const closing = new AbortController();
  const begun = createTopic<void>();
  let draining: Promise<void> | null = null;
  let willing: readonly InstanceId[] = [];

  const lookForOthers = async (): Promise<void> => {
    const live = (await nodes.list(MAX_NODES)).filter(({ id, state }) => id !== me && state === "live");
    willing = live.map(({ id }) => id);
  };

  /** Never rejects. */
  const leaveAll = async (): Promise<void> => {
    let isTold = false;
    while (!closing.signal.aborted) {
      try {
        await lookForOthers();
        const held = await homes?.leave();
        if (held === 0 && !isTold) log.info("gateway has drained, and can be stopped");
        isTold = held === 0;
      } catch (error) {
        log.warn("sessions could not be given back", { error });
      }
      await clock.sleep(LOOK_MS, closing.signal).catch(() => undefined); // closing is the normal end
    }
  };

  const drainHere = async (): Promise<void> => {
    await nodes.drain();
    if (draining !== null) return;
    await lookForOthers();
    log.info("gateway drains: it takes no new sessions");
    homes?.drain(() => willing);
    begun.publish();
    draining = leaveAll();
  };
  others.answer("drain", async () => {
    await drainHere();
    return null;
  });

  return {
    async begin(asked) {
      const verdict = judgeDrain(await nodes.list(MAX_NODES), asked, me);
      if (verdict.kind === "here") await drainHere();
      else if (verdict.kind === "there") await others.ask(verdict.id, "drain", null);
      else throw refused(asked, verdict.kind);
      return verdict.id;
    },
    onBegin: begun.subscribe,
    async [Symbol.asyncDispose]() {
      closing.abort(new Error("the gateway stops"));
      await draining;
    },
  };
}

function refused(asked: string, why: "unknown" | "gone" | "alone"): GatewayError {
  const fields = { node: asked };
  if (why === "alone")
    return new GatewayError("conflict", "no other gateway could go on with its work", {
      fields,
      say: "No other gateway on this database could go on with its work. Start another one first, or stop this one: what it leaves waits for the next start.",
    });
  const say = why === "gone" ? `The gateway ${asked} has ended.` : `There is no gateway ${asked} on this database.`;
  return new GatewayError("not_found", "no such gateway lives", { fields, say });
}
