/** Keeps the tools of one process equal to what its caller is offered: before a turn, and during it when something changes. */
import type { Caller } from "../../contracts/agent.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { ToolGate, ToolSpec } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";
import { deferred } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import type { AgentProcess } from "../process/process.ts";
import type { Fields } from "../talk/protocol.ts";
import type { PushedTools } from "../talk/session.ts";
import { type Offer, type OfferChange, offerChange } from "./offer.ts";

const PUSH_MS = 10_000;
/** What the bridge says when pi did not take a single tool; the others are there. */
const PARTLY = /^tools not taken: /;

interface Offering {
  /** `taken` rejects when the bridge does not take it: the process cannot be used. */
  push(caller: Caller | null, signal: AbortSignal): PushedTools;
  /** From now on changes reach the process at once; null: they wait for the next `push`. */
  follow(caller: Caller | null): void;
  /** Of the tools that the process was given last. */
  names(): readonly string[];
  /** Resolves when nothing is on its way. What is answered to the agent after that, it reads with the tools of now. */
  settled(): Promise<void>;
}

interface Deps {
  readonly clock: Clock;
  readonly log: Log;
  readonly tools: ToolGate;
}

interface Options {
  /** Wraps an order so that the bridge gets it. */
  order(body: unknown): Fields;
  own(caller: Caller | null): readonly string[];
  /** A profile that is a list names every tool there is, the gateway's too. */
  has(tool: string): boolean;
  /** False: the tools of a turn stay as they were at its beginning. */
  readonly live: boolean;
}

export function createOffering(deps: Deps, process: AgentProcess, options: Options): Offering {
  const over = new AbortController();
  let given: Offer | null = null;
  let names: readonly string[] = [];
  let caller: Caller | null = null;
  let stale = false; // something has changed since the last look
  const queue = createQueue();
  let bridgeError: string | null = null;

  process.onExtensionError((error) => {
    bridgeError = error;
  });

  const send = async ({ order, offer }: OfferChange, signal: AbortSignal, sent: () => void): Promise<void> => {
    const late = () => new GatewayError("agent_unavailable", "the bridge did not take the tools");
    using limit = deps.clock.deadline(PUSH_MS, late);
    given = null; // until it is answered nobody knows what the process has
    bridgeError = null;
    const answer = process.request(options.order(order), AbortSignal.any([signal, limit.signal]));
    sent();
    const done = await answer;
    // A failing handler answers success as well; its error arrives as a record of its own.
    const error = done.ok ? bridgeError : done.error;
    if (error !== null && !PARTLY.test(error))
      throw new GatewayError("agent_unavailable", `the bridge refused the tools: ${error}`);
    if (error !== null) deps.log.warn("pi did not take every tool", { pid: process.pid, error });
    given = offer;
    names = [...offer.specs.keys()];
  };

  const give = async (to: Caller | null, signal: AbortSignal, sent = (): void => undefined): Promise<void> => {
    stale = false;
    const all = await deps.tools.offered(to, options.live);
    const specs = all.filter((spec) => isUsable(spec) && (spec.client || options.has(spec.name)));
    const change = offerChange(given, specs, options.own(to), to?.sessionKey ?? null);
    if (change) await send(change, signal, sent);
  };

  const refresh = (): void => {
    if (!caller || !options.live || !stale) return;
    queue
      .add(async () => {
        if (caller && stale) await give(caller, over.signal);
      })
      .catch((error: unknown) => {
        if (!over.signal.aborted)
          deps.log.warn("a change of tools did not reach the agent", { pid: process.pid, error });
      });
  };

  const listening = deps.tools.onChange((sessionKey) => {
    if (sessionKey !== null && caller && caller.sessionKey !== sessionKey) return; // of another session
    if (stale) return; // a refresh is waiting already, or nobody is served
    stale = true;
    refresh();
  });
  over.signal.addEventListener("abort", () => listening[Symbol.dispose]());
  void process.ended.then(() => over.abort(new Error("the process has ended")));

  return {
    push: (to, signal) => pushed((sent) => queue.add(() => give(to, signal, sent))),
    follow(to) {
      caller = to;
      refresh();
    },
    names: () => names,
    settled: queue.empty,
  };
}

/** `push` is told how to say that all is on its way; what does not say so has sent nothing. */
function pushed(push: (sent: () => void) => Promise<void>): PushedTools {
  const sent = deferred<void>();
  const taken = push(sent.resolve);
  taken.then(sent.resolve, sent.reject);
  sent.promise.catch(() => undefined); // whoever waits for one of both hears of it
  return { sent: sent.promise, taken };
}

/** One at a time and in order: a later list must not be overtaken by an earlier one. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  return {
    add<T>(work: () => Promise<T>): Promise<T> {
      const next = last.then(work);
      last = next.catch(() => undefined); // whoever asked for it sees the failure
      return next;
    },
    empty: async (): Promise<void> => void (await last),
  };
}

/** The registry keeps broken tools out; should one get past it, it must not take the others along. */
function isUsable({ name, label, description, parameters }: ToolSpec): boolean {
  const texts = [name, label, description].every((text) => typeof text === "string");
  return texts && typeof parameters === "object" && parameters !== null && !Array.isArray(parameters);
}
