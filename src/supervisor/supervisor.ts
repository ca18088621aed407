/**
 * Tells the supervisor how the gateway is (the sd_notify protocol): ready, stopping, and a sign of life from the event loop for as long as it turns.
 * A supervisor that cannot be told is logged once and hurts nothing.
 */
import type { SupervisorSettings } from "../config/index.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { openDatagram, type SendDatagram } from "./datagram.ts";

export interface Supervisor extends AsyncDisposable {
  /** The start goes on, and takes longer than one usually does. */
  starting(status: string): void;
  ready(status: string): void;
  stopping(reason: string): void;
}

interface SupervisorDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Default: a datagram to the address. */
  readonly open?: (address: string) => SendDatagram | null;
}

/** How much longer a supervisor waits for a start that goes on. It is told again before that is over. */
const LONGER_US = 120_000_000;
/** A sign of life may be late by one pause before anybody worries. */
const SIGNS_PER_LIMIT = 3;

export function openSupervisor(deps: SupervisorDeps, { notifySocket, watchdogMs }: SupervisorSettings): Supervisor {
  const { clock, log } = deps;
  const send = (deps.open ?? openDatagram)(notifySocket);
  const closing = new AbortController();
  let failed = false;
  const tell = (...lines: readonly string[]): void => {
    if (send?.(lines.join("\n"))) return;
    if (!failed) log.warn("the supervisor could not be told", { notifySocket, what: lines[0] });
    failed = true;
  };
  const watch = async (pauseMs: number): Promise<void> => {
    while (!closing.signal.aborted) {
      tell("WATCHDOG=1");
      await clock.sleep(pauseMs, closing.signal).catch(() => undefined); // the abort is the normal end
    }
  };
  const watching =
    watchdogMs === null ? Promise.resolve() : watch(Math.max(1, Math.floor(watchdogMs / SIGNS_PER_LIMIT)));
  return {
    starting: (status) => tell(`EXTEND_TIMEOUT_USEC=${LONGER_US}`, `STATUS=${oneLine(status)}`),
    ready: (status) => tell("READY=1", `STATUS=${oneLine(status)}`),
    stopping: (reason) => tell("STOPPING=1", `STATUS=${oneLine(`Stopping: ${reason}`)}`),
    async [Symbol.asyncDispose]() {
      closing.abort(new Error("the gateway has stopped"));
      await watching;
    },
  };
}

/** A line break would begin another field. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, " ");
}
