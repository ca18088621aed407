/** One call id, one effect: whoever comes with the id of a call that runs waits for that one. It is cancelled when nobody waits for it any more. */
import type { ToolOutcome, ToolPath, ToolResult } from "../../contracts/tools/tool.ts";
import { deferred, type Deferred } from "../../kit/deferred.ts";

type Early = Extract<ToolOutcome, { kind: "pending" }>;

/** What the one who runs it may tell those who wait. */
export interface Shared {
  early(outcome: Early): void;
  progress(partial: ToolResult): void;
}

export interface Ended {
  readonly outcome: ToolOutcome;
  /** When its end is on record: until then its id is taken. */
  readonly written: Promise<unknown>;
}

export interface Once extends AsyncDisposable {
  /** `conflict`: a different call with this id runs. */
  join(call: OnceCall, signal: AbortSignal): Promise<ToolOutcome | "conflict">;
  /** The id is taken until disposed; null: it is taken already. */
  hold(key: string): Disposable | null;
}

interface OnceCall {
  readonly key: string;
  readonly hash: string;
  readonly path: ToolPath;
  readonly onUpdate: ((partial: ToolResult) => void) | undefined;
  /** Called when nothing with this id runs. Never rejects. */
  run(shared: Shared, signal: AbortSignal): Promise<Ended>;
}

interface Running {
  readonly hash: string;
  readonly stop: AbortController;
  readonly final: Promise<ToolOutcome>;
  readonly early: { readonly approval_pending: Deferred<Early>; readonly background: Deferred<Early> };
  readonly listeners: Set<(partial: ToolResult) => void>;
  waiting: number;
  /** Somebody was told that it goes on: it is not cancelled for want of company. */
  goesOn: boolean;
}

/** An agent, a person's command and an MCP client wait; a program is told at once. */
const PATIENT: readonly ToolPath[] = ["pipe", "pi", "command", "mcp"];
const HELD = Symbol("held");

export function createOnce(): Once {
  const running = new Map<string, Running | typeof HELD>();
  const writing = new Set<Promise<unknown>>();

  const begin = ({ key, hash, run }: OnceCall): Running => {
    const stop = new AbortController();
    const early = { approval_pending: deferred<Early>(), background: deferred<Early>() };
    const listeners = new Set<(partial: ToolResult) => void>();
    const shared: Shared = {
      early: (outcome) => early[outcome.code].resolve(outcome),
      progress: (partial) => listeners.forEach((listener) => listener(partial)),
    };
    const ended = run(shared, stop.signal);
    const entry = {
      hash,
      stop,
      early,
      listeners,
      waiting: 0,
      goesOn: false,
      final: ended.then(({ outcome }) => outcome),
    };
    running.set(key, entry);
    const done: Promise<unknown> = ended
      .then(({ written }) => written)
      .catch(() => undefined) // whoever waits for the call sees its failure
      .finally(() => {
        running.delete(key);
        writing.delete(done);
      });
    writing.add(done);
    return entry;
  };

  return {
    async join(call, signal) {
      const known = running.get(call.key);
      if (known === HELD || (known && known.hash !== call.hash)) return "conflict";
      return waitFor(known ?? begin(call), call, signal);
    },
    hold(key) {
      if (running.has(key)) return null;
      running.set(key, HELD);
      return { [Symbol.dispose]: () => void running.delete(key) };
    },
    async [Symbol.asyncDispose]() {
      for (const one of running.values()) if (one !== HELD) one.stop.abort(new Error("the gateway is stopping"));
      await Promise.allSettled(writing);
    },
  };
}

async function waitFor(entry: Running, { path, onUpdate }: OnceCall, signal: AbortSignal): Promise<ToolOutcome> {
  const left = deferred<null>();
  const leave = (): void => left.resolve(null);
  entry.waiting++;
  if (onUpdate) entry.listeners.add(onUpdate);
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  const early = PATIENT.includes(path) ? [entry.early.background] : Object.values(entry.early);
  const first = await Promise.race([entry.final, left.promise, ...early.map(({ promise }) => promise)]);
  signal.removeEventListener("abort", leave);
  if (onUpdate) entry.listeners.delete(onUpdate);
  entry.waiting--;
  if (first?.kind === "pending") entry.goesOn = true;
  if (first) return first;
  if (entry.waiting > 0 || entry.goesOn)
    return { kind: "failed", code: "cancelled", message: "The call was cancelled." };
  entry.stop.abort(signal.reason);
  return entry.final; // a moment later: the tool was told to stop
}
