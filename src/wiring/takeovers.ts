/** When another gateway on the same database is gone, this one takes over: what came goes on in its queue, outbox, jobs and responses. */
import type { ResponsesDoor } from "../contracts/responses.ts";
import type { TakenOver } from "../contracts/store/nodes.ts";
import { untilDone } from "../kit/until-done.ts";
import type { Core } from "./core.ts";
import type { Groups } from "./groups.ts";

interface TakeoverParts extends Pick<Groups, "messages" | "automation"> {
  readonly responses: Pick<ResponsesDoor, "endLeft">;
}

/** After the start, which takes over what there is then. When it is disposed of, this gateway takes over from nobody any more. */
export function watchTakeovers(core: Core, { messages, automation, responses }: TakeoverParts): AsyncDisposable {
  const { clock, log, store } = core;
  const stopping = new AbortController();
  const { signal } = stopping;
  const underWay = new Set<Promise<void>>();

  /** Tried until it works: nobody else will do it while this gateway lives. Never rejects. */
  const surely = (what: string, run: () => Promise<unknown>): Promise<unknown> => {
    const failed = (error: unknown, nextTryInMs: number): void =>
      log.error("work of another gateway could not go on here yet", { what, nextTryInMs, error });
    return untilDone({ clock, failed }, run, signal);
  };

  /** Never rejects. */
  const goOn = async (taken: TakenOver): Promise<void> => {
    const adopting = messages.queue.adopt(taken.messages, signal); // first, and at once: nothing of these sessions may begin before
    messages.outbox.lookAgain();
    messages.platforms.tryAgain();
    const recovered = await adopting;
    await surely("homes of sessions", async () =>
      messages.homes?.adopt(taken.messages.map(({ sessionKey }) => sessionKey)),
    );
    await surely("responses", () => responses.endLeft(taken.responses));
    await surely("runs of jobs", () => automation.adopt(taken.runs)); // after the queue, which has their messages
    log.info("work of another gateway goes on here", { from: taken.from.map(({ name }) => name), ...recovered });
  };

  /** Never rejects. */
  const follow = async (taken: TakenOver): Promise<void> => {
    const going = goOn(taken);
    underWay.add(going);
    await going;
    underWay.delete(going);
  };

  const watch = store.nodes.watch((taken) => void follow(taken));
  return {
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]();
      stopping.abort(new Error("the gateway is stopping"));
      await Promise.all(underWay);
    },
  };
}
