/** Responses that can be asked for by their id: those that run in the background, and those in the store. Each is there for one person alone. */
import { GatewayError } from "../../contracts/errors.ts";
import type { Principal } from "../../contracts/ids.ts";
import type { OtherNodes } from "../../contracts/nodes.ts";
import type { ResponseObject, ResponsesDoor } from "../../contracts/responses.ts";
import type { ResponseStore } from "../../contracts/store/responses.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Backgrounds } from "./background.ts";
import { responseIn } from "./look-up.ts";
import { eventsOf, terminalChange } from "./writer.ts";
import { SHARE } from "./share.ts";

const INTERRUPTED =
  "The gateway was restarted while this response was being answered. It is not tried again; please ask anew.";

export interface KeptDeps {
  readonly clock: Clock;
  readonly store: ResponseStore;
  /** Other gateways on the same database: a response may run at one of them. */
  readonly nodes: Pick<OtherNodes, "ask">;
}

/** A response that runs at another gateway is looked for so often. */
const LOOK_MS = 500;

export function createKept(
  { clock, store, nodes }: KeptDeps,
  backgrounds: Pick<Backgrounds, "find">,
): Pick<ResponsesDoor, "find" | "follow" | "remove" | "cancel"> {
  /** Those that one gateway shows while they grow are shown whole by the others, when they have ended. */
  const endElsewhere = async (id: string, principal: Principal, signal: AbortSignal): Promise<void> => {
    while ((await store.answeredBy(id, principal)) !== null) await clock.sleep(LOOK_MS, signal);
  };
  /** Null: none of this person runs under this id. */
  const stop = async (id: string, principal: Principal): Promise<ResponseObject | null> => {
    const run = backgrounds.find(id, principal);
    if (run) return run.cancel();
    const node = await store.answeredBy(id, principal);
    if (node === null) return null;
    await nodes.ask(node, "responses.cancel", { id, principal });
    return find(id, principal);
  };
  const find = async (id: string, principal: Principal): Promise<ResponseObject | null> => {
    const run = backgrounds.find(id, principal);
    if (run) return run.now();
    const stored = await store.find(id, principal);
    return stored && responseIn(stored);
  };
  return {
    find,
    async follow({ id, principal, after }, show, signal) {
      const run = backgrounds.find(id, principal);
      if (run) return run.follow(after, show, signal);
      await endElsewhere(id, principal, signal);
      const response = await find(id, principal);
      if (response === null) throw noResponse(id);
      if (after === null) for (const event of eventsOf(response)) show(event);
      else show({ ...terminalChange(response), sequence_number: after + 1 });
    },
    async remove(id, principal) {
      await stop(id, principal);
      return store.remove(id, principal);
    },
    async cancel(id, principal) {
      const response = (await stop(id, principal)) ?? (await find(id, principal));
      if (response === null) throw noResponse(id);
      if (response.background) return response;
      const say = "Only a response with background: true is cancelled by its id. Hang up on the others.";
      throw new GatewayError("bad_request", "not in the background", { say });
    },
  };
}

/** What a process had begun that is gone, and nobody answers any more. `only`: of these; null: of all that are open. How many there were. */
export async function endInterrupted(store: ResponseStore, only: readonly string[] | null): Promise<number> {
  const error = { code: "outcome_unknown", message: INTERRUPTED };
  const left = (await store.open()).filter(({ id }) => only === null || only.includes(id));
  for (const one of left) {
    const response = responseIn(one);
    await store.put({ ...one, ended: true, body: response && { ...response, status: "failed", error } }, SHARE);
  }
  return left.length;
}

function noResponse(id: string): GatewayError {
  return new GatewayError("not_found", "no such response", {
    say: `There is no response ${JSON.stringify(id.slice(0, 100))}.`,
  });
}
