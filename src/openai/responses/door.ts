/** The door of responses: the same agents, tools and limits as chat completions, with answers that are kept, continued, polled and cancelled. */
import { GatewayError } from "../../contracts/errors.ts";
import type { Principal } from "../../contracts/ids.ts";
import type { AskedResponse, ResponseEvent, ResponseObject, ResponsesDoor } from "../../contracts/responses.ts";
import { background } from "../../kit/background.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { createRepeats } from "../repeats.ts";
import type { RequestOptions } from "../request.ts";
import { createBackgrounds } from "./background.ts";
import { compactConversation } from "./compact.ts";
import { responseIn } from "./look-up.ts";
import { readResponseRequest } from "./request.ts";
import { newResponse, prepare, type RunDeps, runResponse } from "./run.ts";
import { eventsOf, terminalChange } from "./writer.ts";

const DAY_MS = 24 * 60 * 60_000;
const KEEP_DAYS = 30;
const MAX_KEPT_EACH = 10_000;
const MAX_CHARS_EACH = 256 * 1024 * 1024;
/** Old conversations are looked for after this many new responses. */
const PRUNE_EVERY = 200;
const NEVER = new AbortController().signal;

interface ResponsesDeps extends RunDeps {
  readonly ids: Ids;
  readonly log: Log;
  readonly options: RequestOptions;
}

export function createResponsesDoor(deps: ResponsesDeps): ResponsesDoor {
  const { clock, ids, log, store, options } = deps;
  const repeats = createRepeats<ResponseObject>();
  const backgrounds = createBackgrounds(deps);
  let made = 0;
  const prune = (): void => {
    const rule = { before: clock.now() - KEEP_DAYS * DAY_MS, maxEach: MAX_KEPT_EACH, maxCharsEach: MAX_CHARS_EACH };
    background(log, "old responses stay", () => store.prune(rule));
  };
  const next = (asked: AskedResponse): ResponseObject => {
    if (asked.request.settings.store && ++made % PRUNE_EVERY === 0) prune();
    return newResponse(asked, ids.next("resp"), clock);
  };
  const found = async (id: string, principal: Principal): Promise<ResponseObject | null> => {
    const stored = backgrounds.find(id, principal)?.now() ?? (await store.find(id, principal));
    if (stored === null) return null;
    return "body" in stored ? responseIn(stored) : stored;
  };
  return {
    read: (body, session) => readResponseRequest(body, session, options),
    async create(asked, show, signal) {
      const key = keyOf(asked);
      if (key === null) return runResponse(deps, { asked, first: next(asked), show }, signal);
      let isShown = false;
      const once = (event: ResponseEvent): void => {
        isShown = true;
        show(event);
      };
      const run = async () => (await runResponse(deps, { asked, first: next(asked), show: once }, signal)).response;
      const response = await repeats.once(key, asked.digest, run, signal);
      if (!isShown) for (const event of eventsOf(response)) show(event);
      return { response, said: null };
    },
    async begin(asked) {
      const run = async () => {
        const prepared = await prepare(deps, asked, NEVER);
        return backgrounds.begin(asked, prepared, next(asked));
      };
      const key = keyOf(asked);
      if (key === null) return run();
      const begun = await repeats.once(key, asked.digest, run, NEVER);
      return (await found(begun.id, asked.principal)) ?? begun;
    },
    find: found,
    async follow({ id, principal, after }, show, signal) {
      const run = backgrounds.find(id, principal);
      if (run) return run.follow(after, show, signal);
      const response = await found(id, principal);
      if (response === null) throw noResponse(id);
      if (after === null) for (const event of eventsOf(response)) show(event);
      else show({ ...terminalChange(response), sequence_number: after + 1 });
    },
    async remove(id, principal) {
      await backgrounds.find(id, principal)?.cancel();
      return store.remove(id, principal);
    },
    async cancel(id, principal) {
      const run = backgrounds.find(id, principal);
      const response = run ? await run.cancel() : await found(id, principal);
      if (response === null) throw noResponse(id);
      if (response.background) return response;
      const say = "Only a response with background: true is cancelled by its id. Hang up on the others.";
      throw new GatewayError("bad_request", "not in the background", { say });
    },
    compact: (asked, signal) => compactConversation(deps, asked, signal),
    async recover() {
      prune();
      return endInterrupted(store);
    },
    [Symbol.asyncDispose]: () => backgrounds[Symbol.asyncDispose](),
  };
}

function keyOf({ idempotencyKey, principal }: AskedResponse): string | null {
  return idempotencyKey === null ? null : `${principal} ${idempotencyKey}`;
}

/** What a previous process had begun, and nobody answers any more. */
async function endInterrupted(store: RunDeps["store"]): Promise<number> {
  const error = { code: "outcome_unknown", message: INTERRUPTED };
  const left = await store.open();
  for (const one of left) {
    const response = responseIn(one);
    await store.put({ ...one, ended: true, body: response && { ...response, status: "failed", error } });
  }
  return left.length;
}

const INTERRUPTED =
  "The gateway was restarted while this response was being answered. It is not tried again; please ask anew.";

function noResponse(id: string): GatewayError {
  return new GatewayError("not_found", "no such response", {
    say: `There is no response ${JSON.stringify(id.slice(0, 100))}.`,
  });
}
