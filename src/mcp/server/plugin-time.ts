/** A limit for what plugins do for MCP clients: one that never answers holds a request no longer than this. */
import { GatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import { durationText } from "../../kit/duration.ts";

/** The signal that `work` gets aborts with the limit as well. Throws GatewayError `tool_timeout`. */
export async function withinTime<T>(
  clock: Clock,
  ms: number,
  work: (signal: AbortSignal) => T | Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const say = `The plugin did not answer within ${durationText(ms)}.`;
  using limit = clock.deadline(ms, () => new GatewayError("tool_timeout", "a plugin took too long", { say }));
  const until = AbortSignal.any([signal, limit.signal]);
  return await orAborted(Promise.resolve(work(until)), until);
}
