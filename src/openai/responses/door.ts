/** The door of responses: the same agents, tools and limits as chat completions, with answers that are kept, continued, polled and cancelled. */
import type { ApiKeys } from "../../contracts/api-keys.ts";
import type { AskedResponse, ResponseEvent, ResponseObject, ResponsesDoor } from "../../contracts/responses.ts";
import { background } from "../../kit/background.ts";
import type { Ids } from "../../kit/ids.ts";
import { createRepeats, type RepeatDeps } from "../repeats.ts";
import type { RequestOptions } from "../request.ts";
import { createBackgrounds } from "./background.ts";
import { compactConversation } from "./compact.ts";
import { createKept, endInterrupted, type KeptDeps } from "./kept.ts";
import { readResponseRequest } from "./request.ts";
import { newResponse, prepare, type RunDeps, runResponse } from "./run.ts";
import { eventsOf } from "./writer.ts";

const DAY_MS = 24 * 60 * 60_000;
const KEEP_DAYS = 30;
/** Old conversations are looked for after this many new responses. */
const PRUNE_EVERY = 200;
const NEVER = new AbortController().signal;

interface ResponsesDeps extends RunDeps, RepeatDeps, KeptDeps {
  readonly ids: Ids;
  readonly keys: Pick<ApiKeys, "ending">;
  readonly options: RequestOptions;
}

export function createResponsesDoor(deps: ResponsesDeps): ResponsesDoor {
  const { clock, ids, log, store, options } = deps;
  const repeats = createRepeats<ResponseObject>(deps, "responses");
  const backgrounds = createBackgrounds(deps);
  const { find, follow, remove, cancel } = createKept(deps, backgrounds);
  let made = 0;
  const prune = () => store.prune(clock.now() - KEEP_DAYS * DAY_MS);
  const next = (asked: AskedResponse): ResponseObject => {
    if (asked.request.settings.store) made++;
    if (made === PRUNE_EVERY) {
      made = 0;
      background(log, "could not delete old responses", prune);
    }
    return newResponse(asked, ids.next("resp"), clock);
  };
  return {
    find,
    follow,
    remove,
    cancel,
    read: (body, session) => readResponseRequest(body, session, options),
    async create(asked, show, signal) {
      if (asked.idempotencyKey === null) return runResponse(deps, { asked, first: next(asked), show }, signal);
      let isShown = false;
      const once = (event: ResponseEvent): void => {
        isShown = true;
        show(event);
      };
      const run = async () => (await runResponse(deps, { asked, first: next(asked), show: once }, signal)).response;
      const response = await repeats.once(asked, run, signal);
      if (!isShown) for (const event of eventsOf(response)) show(event);
      return { response, said: null };
    },
    async begin(asked) {
      const run = async (): Promise<ResponseObject> => {
        const prepared = await prepare(deps, asked, NEVER);
        return backgrounds.begin(asked, prepared, next(asked));
      };
      if (asked.idempotencyKey === null) return run();
      const begun = await repeats.once(asked, run, NEVER);
      return (await find(begun.id, asked.principal)) ?? begun;
    },
    compact: (asked, signal) => compactConversation(deps, asked, signal),
    async recover() {
      background(log, "could not delete old responses", prune);
      return endInterrupted(store, null);
    },
    endLeft: (ids) => endInterrupted(store, ids),
    [Symbol.asyncDispose]: () => backgrounds[Symbol.asyncDispose](),
  };
}
