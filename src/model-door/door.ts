/**
 * The model door: model calls of agent processes leave through here. A process says what it wants on its own connection; the gateway checks
 * where it goes, puts in the key, and streams the answer back. Calls are served only while the process has a lease, and end with it.
 */
import type { Config, Environment, ModelEndpoint } from "../config/index.ts";
import { modelEndpoint } from "../config/index.ts";
import type { Caller } from "../contracts/agent.ts";
import type { ModelDoor, ProcessDoor } from "../contracts/model-door.ts";
import { background } from "../kit/background.ts";
import type { Log } from "../kit/log.ts";
import type { MuxStream } from "../kit/mux/mux.ts";
import { type CallRequest, destinationOf, parseCall } from "./call-request.ts";
import { askProvider, MAX_REQUEST_BYTES, readRequest, refuse, returnAnswer } from "./provider-call.ts";

interface DoorDeps {
  readonly log: Log;
}

interface DoorOptions {
  /** Asked for each call, so that a changed key holds at once. */
  readonly models: () => Config["models"];
  readonly environment: Pick<Environment, "providerKeys">;
}

export function createModelDoor({ log }: DoorDeps, { models, environment }: DoorOptions): ModelDoor {
  const endpointsOf = (names: readonly string[]): ReadonlyMap<string, ModelEndpoint> => {
    const found = names.map((name) => [name, modelEndpoint(models(), environment, name)] as const);
    return new Map(found.flatMap(([name, endpoint]) => (endpoint ? [[name, endpoint] as const] : [])));
  };
  return {
    connect(providers): ProcessDoor {
      let lease: { readonly caller: Caller; readonly over: AbortController } | null = null;
      return {
        lease(caller) {
          lease?.over.abort(new Error("the turn is over"));
          lease = caller ? { caller, over: new AbortController() } : null;
        },
        serve(call, head) {
          background(log, "model call not dealt with", async () => {
            const request = parseCall(head);
            if (!request) return say(call, 400, "The gateway did not understand this call.");
            if (!lease) return say(call, 403, "Models are called only during a turn.");
            const stop = AbortSignal.any([lease.over.signal, call.cut]);
            await answer(call, request, { endpoints: endpointsOf(providers), stop });
          });
        },
      };
    },
  };
}

interface Situation {
  readonly endpoints: ReadonlyMap<string, ModelEndpoint>;
  readonly stop: AbortSignal;
}

/** Never rejects: what goes wrong is told to the process. */
async function answer(call: MuxStream, request: CallRequest, { endpoints, stop }: Situation): Promise<void> {
  try {
    const destination = destinationOf(request, endpoints);
    if (typeof destination === "string") return await say(call, 403, destination);
    const body = await readRequest(call);
    if (!body) return await say(call, 413, `A call has at most ${MAX_REQUEST_BYTES} bytes.`);
    const key = destination.endpoint.key?.reveal() ?? null;
    const reply = await askProvider(request, { body, key }, stop);
    await returnAnswer(call, reply, key);
  } catch (error) {
    call.abort(error instanceof Error ? error.message : "the call failed");
  }
}

/** In the form that every library of a provider reads. */
async function say(call: MuxStream, status: number, message: string): Promise<void> {
  const text = JSON.stringify({ type: "error", error: { type: "pi_gateway", message } });
  await refuse(call, { status, headers: [["content-type", "application/json"]], text });
}
