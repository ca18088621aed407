/** How starting has gone lately: when the next try is due, whether waiting still makes sense, and what to tell people. Starts nothing itself. */
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import type { Clock } from "../kit/clock.ts";

const HOPELESS_AFTER = 3;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
const SHORTEST_WAIT_MS = 25;
/** A process that dies while idle sooner than this counts like one that did not start. */
const QUICK_DEATH_MS = 10_000;
/** So many of those, one after the other, are a trouble to be told, for as long as the next one would follow within this time. */
const LOOP_DEATHS = 3;
const LOOP_MEMORY_MS = 60_000;
const LOOP =
  "The assistant's processes end by themselves soon after their start. Their last words are in the gateway's log.";

export interface StartRecord {
  mayStart(): boolean;
  /** Calls back once when starts are allowed again; at most one call is outstanding. */
  whenAllowed(act: () => void, signal: AbortSignal): void;
  /** True when there was a trouble, so that people look again. */
  succeeded(): boolean;
  /** Returns the trouble in plain words. */
  failed(error: unknown): string;
  diedResting(afterMs: number): void;
  /** A process has done real work: the past is forgiven. */
  worked(): void;
  trouble(): string | null;
  /** The reason to stop waiting, or null while another try may help. */
  hopeless(): GatewayError | null;
}

export function createStartRecord(clock: Clock): StartRecord {
  let failures = 0;
  let quickDeaths = 0;
  let notBefore = 0;
  let diedAt = 0;
  let last: GatewayError | null = null;
  let waiting = false;

  const pause = (): void => {
    const times = failures + quickDeaths;
    notBefore = clock.elapsed() + Math.min(FIRST_PAUSE_MS * 2 ** (times - 1), LONGEST_PAUSE_MS);
  };

  const isLoop = (): boolean => quickDeaths >= LOOP_DEATHS && clock.elapsed() - diedAt < LOOP_MEMORY_MS;

  return {
    mayStart: () => clock.elapsed() >= notBefore,
    whenAllowed(act, signal) {
      if (waiting) return;
      waiting = true;
      // Never at once: the time may have come between the caller's look and this one, and then nobody else would call.
      clock.sleep(Math.max(notBefore - clock.elapsed(), SHORTEST_WAIT_MS), signal).then(
        () => {
          waiting = false;
          act();
        },
        () => undefined, // the pool closes
      );
    },
    succeeded() {
      const hadTrouble = last !== null || isLoop();
      failures = 0;
      last = null;
      return hadTrouble;
    },
    failed(error) {
      failures++;
      last = asGatewayError(error);
      pause();
      return sentence(last);
    },
    diedResting(afterMs) {
      if (afterMs > QUICK_DEATH_MS) return;
      quickDeaths++;
      diedAt = clock.elapsed();
      pause();
    },
    worked() {
      quickDeaths = 0;
    },
    trouble: () => (last ? sentence(last) : isLoop() ? LOOP : null),
    hopeless: () => (last && (failures >= HOPELESS_AFTER || neverHelps(last)) ? copy(last) : null),
  };
}

/** Neither a missing program nor a missing model appears by trying again at once. */
function neverHelps(error: GatewayError): boolean {
  return error.code === "agent_missing" || error.code === "model_missing";
}

function sentence(error: GatewayError): string {
  if (neverHelps(error)) return error.say;
  return `The assistant does not start: ${error.message.replace(/^[a-z_]+: /, "")}`;
}

function asGatewayError(error: unknown): GatewayError {
  if (isGatewayError(error)) return error;
  return new GatewayError("agent_unavailable", error instanceof Error ? error.message : "unknown reason", {
    cause: error,
  });
}

function copy(error: GatewayError): GatewayError {
  return new GatewayError(error.code, error.message.replace(/^[a-z_]+: /, ""), {
    cause: error,
    fields: error.fields,
    say: error.say,
  });
}
