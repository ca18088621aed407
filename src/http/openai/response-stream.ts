/** The events of a response as server-sent events. The stream begins with the first of them, so that what fails before has a status. */
import type { ResponseEvent } from "../../contracts/responses.ts";
import { deferred } from "../../kit/deferred.ts";
import { eventStream } from "../chat/event-stream.ts";
import { logProblem } from "../problem.ts";
import { openAiError } from "./problem.ts";
import type { Call } from "../route.ts";
import type { HttpDeps } from "../types.ts";

const DONE = "[DONE]";

type Run = (show: (event: ResponseEvent) => void, signal: AbortSignal) => Promise<unknown>;

/** Throws what `run` throws before its first event. Hanging up aborts its signal. */
export async function streamedEvents(deps: Pick<HttpDeps, "clock" | "log">, call: Call, run: Run): Promise<Response> {
  const gone = new AbortController();
  const began = deferred<void>();
  const early: ResponseEvent[] = [];
  let take = (event: ResponseEvent): void => void early.push(event);
  let last = -1;
  const running = run(
    (event) => {
      last = event.sequence_number;
      take(event);
      began.resolve();
    },
    AbortSignal.any([call.signal, gone.signal]),
  );
  running.catch(() => undefined); // told below
  await Promise.race([began.promise, running]);
  return eventStream(deps, call.signal, async (sink, over) => {
    over.addEventListener("abort", () => gone.abort(over.reason), { once: true });
    take = (event) => sink.send(event.type, event);
    for (const event of early) take(event);
    try {
      await running;
      sink.data(DONE);
    } catch (error) {
      if (sink.isGone() || call.request.signal.aborted) return; // nobody is left to be told
      logProblem(deps.log, error, { requestId: call.requestId });
      // such as the stop of the gateway, or the end of the key: a run tells what went wrong with the response itself
      const problem = openAiError(error);
      sink.send("error", { ...problem, type: "error", sequence_number: last + 1, error: problem });
    }
  });
}
