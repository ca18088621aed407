/**
 * The model door: model calls of agent processes leave through here. A process says what it wants on its own connection; the gateway checks
 * where it goes, puts in the key, and streams the answer back. Calls are served only while the process has a lease, and end with it.
 */
import { type Config, type Environment, type ModelEndpoint, modelEndpoint } from "../config/index.ts";
import type { Caller, FailedModel } from "../contracts/agent.ts";
import type { DoorRefusal, ModelDoor, ProcessDoor } from "../contracts/model-door.ts";
import { background } from "../kit/background.ts";
import type { Secret } from "../kit/secret.ts";
import { createProviderKeys } from "./keys.ts";
import type { Log } from "../kit/log.ts";
import { parseCall } from "./call-request.ts";
import { MAX_REQUEST_BYTES, readRequest, say } from "./provider-call.ts";
import { type Cooldown, createCooldowns } from "./cooldowns.ts";
import { type CallDeps, type CallWorld, serveCall } from "./serve-call.ts";

interface DoorDeps extends Omit<CallDeps, "keys"> {
  readonly log: Log;
  /** From now on this value is kept out of every log line and reply. */
  hide(key: Secret): unknown;
}

interface DoorOptions {
  /** Asked for each call, so that a changed key holds at once. */
  readonly models: () => Config["models"];
  readonly environment: Pick<Environment, "providerKeys" | "userHome">;
}

interface Lease {
  readonly caller: Caller;
  readonly over: AbortController;
  refusal: DoorRefusal | null;
  failed: FailedModel | null;
}

export function createModelDoor(deps: DoorDeps, { models, environment }: DoorOptions): ModelDoor {
  const endpointsOf = (names: readonly string[]): ReadonlyMap<string, ModelEndpoint> => {
    const found = names.map((name) => [name, modelEndpoint(models(), environment, name)] as const);
    return new Map(found.flatMap(([name, endpoint]) => (endpoint ? [[name, endpoint] as const] : [])));
  };
  const cooldowns = createCooldowns(deps.clock);
  const keys = createProviderKeys({ ...deps, userHome: environment.userHome });
  return {
    notices: () => cooldowns.list().map((one) => cooldownText(one, deps.clock.elapsed())),
    connect({ providers, fallbackAfterMs, callsItself }): ProcessDoor {
      let lease: Lease | null = null;
      const worldOf = (held: Lease): CallWorld => ({
        clock: deps.clock,
        events: deps.events,
        budget: deps.budget,
        keys,
        cooldowns,
        endpoints: endpointsOf(providers),
        caller: held.caller,
        fallbackAfterMs,
        over: held.over.signal,
        refused: (because) => {
          held.refusal = because;
        },
        fellBack: (model, because) => {
          held.failed ??= { model, because };
        },
      });
      return {
        refusal: () => lease?.refusal ?? null,
        failed: () => lease?.failed ?? null,
        told(usage, more) {
          if (!callsItself || !lease) return null;
          if (usage.inputTokens + usage.outputTokens > 0) deps.budget.spent(lease.caller, usage);
          if (more) lease.refusal ??= deps.budget.refusal(lease.caller);
          return lease.refusal;
        },
        lease(caller) {
          lease?.over.abort(new Error("the turn is over"));
          lease = caller ? { caller, over: new AbortController(), refusal: null, failed: null } : null;
        },
        serve(call, head) {
          background(deps.log, "model call not dealt with", async () => {
            const held = lease; // a call belongs to the turn in which it began
            const body = await readRequest(call);
            const request = parseCall(head);
            if (!request) return say(call, 400, "The gateway did not understand this call.");
            if (!held || held.over.signal.aborted) return say(call, 403, "Models are called only during a turn.");
            if (!body) return say(call, 413, `A call has at most ${MAX_REQUEST_BYTES} bytes.`);
            await serveCall(worldOf(held), call, { ...request, body });
          });
        },
      };
    },
  };
}

function cooldownText({ name, because, until }: Cooldown, now: number): string {
  const seconds = Math.ceil((until - now) / 1_000);
  return `${name} is not asked for another ${seconds} s, and the next of agent.fallbacks answers: ${because}`;
}
