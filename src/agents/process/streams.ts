/** What an agent process asks for on its connection to the gateway: calls of models, connections to hosts, and the gateway's own port. Only while it serves somebody. */
import type { Egress, EgressCaller, NetworkSetting } from "../../contracts/egress.ts";
import type { ProcessDoor } from "../../contracts/model-door.ts";
import { isFields } from "../talk/protocol.ts";
import type { MuxStream } from "../../kit/mux/mux.ts";

export interface ProcessStreams extends ProcessDoor {
  /** For whom it works now. */
  caller(): EgressCaller | null;
}

interface StreamsDeps {
  readonly door: ProcessDoor;
  /** Without it programs of the process reach nobody. */
  readonly egress: Egress | undefined;
  /** What the agent's shell runs now. */
  commands(): readonly string[];
}

export function createStreams({ door, egress, commands }: StreamsDeps, network: NetworkSetting): ProcessStreams {
  let served: EgressCaller | null = null;
  let over = new AbortController();
  const open = new Set<MuxStream>();
  /** Never rejects: a connection that is cut has ended. */
  const pass = async (stream: MuxStream, work: Promise<void>): Promise<void> => {
    open.add(stream);
    await work;
    open.delete(stream);
  };
  return {
    caller: () => served,
    refusal: door.refusal,
    failed: door.failed,
    told: door.told,
    lease(caller) {
      over.abort(new Error("the turn is over"));
      for (const stream of open) stream.abort("the turn is over");
      over = new AbortController();
      served = caller && { of: caller, network, over: over.signal, commands };
      door.lease(caller);
    },
    serve(stream, head) {
      const to = isFields(head) ? head.to : null;
      if (to === "model") return door.serve(stream, head);
      if (!served || !egress) return stream.abort("nothing is reached outside of a turn");
      if (to === "host") return void pass(stream, egress.serve(stream, served));
      if (to === "gateway") return void pass(stream, egress.serveGateway(stream));
      stream.abort("this is not served here");
    },
  };
}
