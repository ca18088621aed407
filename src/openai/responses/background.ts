/** Responses that nobody waits for: each runs until it ends or is cancelled, and those who ask meanwhile see how far it is. */
import type { ApiKeys } from "../../contracts/api-keys.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Principal } from "../../contracts/ids.ts";
import type { AskedResponse, ResponseEvent, ResponseObject } from "../../contracts/responses.ts";
import { background } from "../../kit/background.ts";
import { deferred, orAborted } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import { createFairLimit } from "../fair-limit.ts";
import { problemOf } from "../problem.ts";
import { type Prepared, type RunDeps, seconds, storedForm } from "./run.ts";
import { createResponseWriter, type ResponseWriter } from "./writer.ts";
import { SHARE } from "./share.ts";

const MAX_RUNNING = 100;
const BUSY_RETRY_MS = 5_000;
/** Of one response, for those who come later. Past this they wait for its end. */
const MAX_KEPT_EVENTS = 20_000;

class Cancelled extends Error {}

interface BackgroundRun {
  readonly principal: Principal;
  now(): ResponseObject;
  /** Resolves when it has ended and is stored. */
  cancel(): Promise<ResponseObject>;
  /** What comes after this number, until the end. */
  follow(after: number | null, show: (event: ResponseEvent) => void, signal: AbortSignal): Promise<void>;
}

export interface Backgrounds extends AsyncDisposable {
  /** Throws GatewayError `queue_full`. When it resolves, the response is stored. */
  begin(asked: AskedResponse, prepared: Prepared, first: ResponseObject): Promise<ResponseObject>;
  /** Null: none of this person runs under this id. */
  find(id: string, principal: Principal): BackgroundRun | null;
}

interface BackgroundDeps extends RunDeps {
  readonly log: Log;
  /** Keys that are revoked or expire end what they have begun. */
  readonly keys: Pick<ApiKeys, "ending">;
}

export function createBackgrounds(deps: BackgroundDeps): Backgrounds {
  const running = new Map<string, BackgroundRun & { readonly ended: Promise<unknown>; stop(reason: Error): void }>();
  const admitOne = createFairLimit(MAX_RUNNING);
  return {
    async begin(asked, prepared, first) {
      const { principal } = asked;
      const admitted = admitOne(principal);
      if (admitted === null)
        throw new GatewayError("queue_full", "too many background responses", {
          fields: { retryAfterMs: BUSY_RETRY_MS },
        });
      const events = createEventRecord();
      const writer = createResponseWriter(first, events.add);
      writer.begin("queued");
      const queued = writer.now();
      const form = { prepared, principal, createdAt: deps.clock.now() };
      try {
        await deps.store.put(storedForm({ ...form, response: queued }), SHARE);
      } catch (error) {
        admitted[Symbol.dispose]();
        throw error;
      }
      const stopping = new AbortController();
      const ended = deferred<ResponseObject>();
      running.set(first.id, {
        principal,
        now: writer.now,
        ended: ended.promise,
        stop: (reason) => stopping.abort(reason),
        cancel() {
          stopping.abort(new Cancelled());
          return ended.promise;
        },
        follow: events.follow,
      });
      background(deps.log, "background response not stored", async () => {
        try {
          const ending = asked.key === null ? [] : [deps.keys.ending(asked.key.id)];
          const until = AbortSignal.any([stopping.signal, ...ending]);
          const keep = (response: ResponseObject) => deps.store.put(storedForm({ ...form, response }), SHARE);
          await answerLater(deps, { prepared, writer, keep }, until);
        } finally {
          running.delete(first.id);
          admitted[Symbol.dispose]();
          events.end();
          ended.resolve(writer.now());
        }
      });
      return queued;
    },
    find(id, principal) {
      const run = running.get(id);
      return run?.principal === principal ? run : null;
    },
    async [Symbol.asyncDispose]() {
      const all = [...running.values()];
      for (const run of all) run.stop(new GatewayError("stopping", "the gateway stops"));
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}

interface Later {
  readonly prepared: Prepared;
  readonly writer: ResponseWriter;
  /** Stores it as it ended. */
  keep(response: ResponseObject): Promise<void>;
}

/** A failure is how it ended; throws only when that could not be stored. */
async function answerLater(
  { answers, clock }: RunDeps,
  { prepared: { turn }, writer, keep }: Later,
  signal: AbortSignal,
): Promise<void> {
  try {
    writer.begin("in_progress");
    const ended = writer.end(await answers.answer(turn, writer.show, signal), seconds(clock));
    await keep(ended);
    writer.complete(ended);
  } catch (error) {
    const isCancelled = signal.reason instanceof Cancelled;
    await keep(isCancelled ? writer.cancel() : writer.fail(problemOf(signal.reason ?? error), true));
  }
}

function createEventRecord() {
  const kept: ResponseEvent[] = [];
  const listeners = new Set<(event: ResponseEvent) => void>();
  const over = deferred<void>();
  return {
    add(event: ResponseEvent): void {
      if (kept.length < MAX_KEPT_EVENTS) kept.push(event);
      for (const listener of listeners) listener(event);
    },
    end: () => over.resolve(),
    async follow(after: number | null, show: (event: ResponseEvent) => void, signal: AbortSignal): Promise<void> {
      for (const event of kept) if (event.sequence_number > (after ?? -1)) show(event);
      listeners.add(show);
      try {
        await orAborted(over.promise, signal);
      } finally {
        listeners.delete(show);
      }
    },
  };
}
