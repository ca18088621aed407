/** One question to the running gateway, which has ten seconds to answer it. */
import { createClient, type GatewayClient } from "./client.ts";
import { findGateway } from "./state-directory.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

const REQUEST_MS = 10_000;

export async function askGateway<T>(
  world: CliWorld,
  flags: CommonFlags,
  ask: (client: GatewayClient, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const client = createClient(await findGateway(world, flags.home));
  using limit = world.clock.deadline(REQUEST_MS, () => new Error("The gateway did not answer within 10 seconds."));
  return await ask(client, limit.signal); // awaited here, or the limit would end before the answer
}
