/** One run of a response: what it refers to is looked up, an agent answers, the answer is stored. The same for every transport. */
import type { AskedTurn } from "../../contracts/openai.ts";
import type { AskedResponse, Created, ResponseEvent, ResponseObject, SaidItems } from "../../contracts/responses.ts";
import type { ResponseStore, StoredResponse } from "../../contracts/store/responses.ts";
import { GatewayError, isGatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Answers } from "../answers.ts";
import { problemOf } from "../problem.ts";
import { charsIn, joined, outputAsItems, saidOf, turnOf } from "./conversation.ts";
import { type Earlier, earlierOf, knownInput, type LookUpDeps } from "./look-up.ts";
import { createResponseWriter, type ResponseWriter } from "./writer.ts";
import { SHARE } from "./share.ts";

/** An answer that fails within this time fails as a whole; after it the response is announced. */
const FIRST_SIGN_MS = 5_000;
const MS_PER_SECOND = 1_000;
/** What is kept of a conversation with one response, by the store or by a connection. The store reads no more than 16 MiB back. */
const MAX_KEPT_CHARS = 10 * 1024 * 1024;

export interface RunDeps extends LookUpDeps {
  readonly clock: Clock;
  readonly answers: Answers;
  readonly store: ResponseStore;
}

/** What was looked up before anything is answered. */
export interface Prepared {
  readonly earlier: Earlier;
  /** The new input. */
  readonly said: SaidItems;
  readonly turn: AskedTurn;
}

export function newResponse({ request: { settings } }: AskedResponse, id: string, clock: Clock): ResponseObject {
  return {
    id,
    object: "response",
    created_at: seconds(clock),
    completed_at: null,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    output: [],
    usage: null,
    pi_gateway: null,
    ...settings,
  };
}

/** Throws GatewayError for everything that is wrong with the request. */
export async function prepare(deps: RunDeps, asked: AskedResponse, signal: AbortSignal): Promise<Prepared> {
  const { request, principal, key } = asked;
  const reader = () => ({ ...deps.answers.routed({ principal, key, agent: request.agent }), principal });
  const earlier = await earlierOf(deps, asked);
  const said = await knownInput(deps, { input: request.input, principal, reader }, signal);
  const { settings } = request;
  // instructions and tools are told again with the response, and stored with it
  if (settings.store && charsIn(toStore(earlier, said)) + JSON.stringify(settings).length > MAX_KEPT_CHARS)
    throw new GatewayError("too_large", "too large to be stored", {
      say: "The request is too large to be stored. Send it with store: false.",
      fields: { param: "store" },
    });
  return { earlier, said, turn: { ...asked, request: turnOf(request, joined(earlier.said, said)) } };
}

export async function runResponse(
  deps: RunDeps,
  { asked, first, show }: { asked: AskedResponse; first: ResponseObject; show(event: ResponseEvent): void },
  signal: AbortSignal,
): Promise<Created> {
  const prepared = await prepare(deps, asked, signal);
  const writer = createResponseWriter(first, show);
  const response = await answered(deps, { asked, prepared, writer }, signal);
  const said = joined(prepared.earlier.said, prepared.said, saidOf(outputAsItems(response.output)));
  return { response, said: charsIn(said) > MAX_KEPT_CHARS ? null : said };
}

interface Answering {
  readonly asked: AskedResponse;
  readonly prepared: Prepared;
  readonly writer: ResponseWriter;
}

/** Throws while nothing was announced, and when whoever asked has gone. */
async function answered(
  { clock, answers, store }: Pick<RunDeps, "clock" | "answers" | "store">,
  { asked: { shows, principal }, prepared, writer }: Answering,
  signal: AbortSignal,
): Promise<ResponseObject> {
  const over = new AbortController();
  if (shows !== "whole") {
    const waited = clock.sleep(FIRST_SIGN_MS, AbortSignal.any([signal, over.signal]));
    waited.then(
      () => writer.begin("in_progress"),
      () => undefined, // it has begun, or ended, by itself
    );
  }
  try {
    const response = writer.end(await answers.answer(prepared.turn, writer.show, signal), seconds(clock));
    if (response.store) await store.put(storedForm({ response, prepared, principal, createdAt: clock.now() }), SHARE);
    return writer.complete(response);
  } catch (error) {
    const hasGone = signal.aborted && !isGatewayError(signal.reason); // a gateway that stops tells why
    if (hasGone || shows === "whole" || !writer.isBegun()) throw error;
    return writer.fail(problemOf(error), shows === "events");
  } finally {
    over.abort(new Error("the response has ended"));
  }
}

interface Storing {
  readonly response: ResponseObject;
  readonly prepared: Pick<Prepared, "earlier" | "said">;
  readonly principal: AskedResponse["principal"];
  readonly createdAt: number;
}

export function storedForm({ response, prepared: { earlier, said }, principal, createdAt }: Storing): StoredResponse {
  const { id } = response;
  const { from } = earlier;
  const ended = response.status !== "queued" && response.status !== "in_progress";
  const place = { chain: from?.chain ?? id, previous: from?.id ?? null };
  return { id, principal, ...place, createdAt, ended, said: toStore(earlier, said), body: response };
}

/** What came before is stored with it, unless it is stored already. */
function toStore(earlier: Earlier, said: SaidItems): SaidItems {
  return earlier.from === null ? joined(earlier.said, said) : said;
}

export function seconds(clock: Clock): number {
  return Math.floor(clock.now() / MS_PER_SECOND);
}
