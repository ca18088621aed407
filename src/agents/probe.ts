/** Starts one process, asks which model it has, and stops it: for `doctor`. Says what went wrong instead of throwing. */
import { isGatewayError } from "../contracts/errors.ts";
import type { Events } from "../contracts/events.ts";
import { DEFAULT_AGENT } from "../contracts/ids.ts";
import type { ToolGate } from "../contracts/tools/tool.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { type PoolOptions, startSettings } from "./kinds.ts";
import { profileFolder } from "./profile.ts";
import { startAgent } from "./setup/start.ts";

type PiProbe =
  | { readonly kind: "ok"; readonly model: string; readonly ms: number }
  | { readonly kind: "failed"; readonly code: string; readonly say: string; readonly detail: string };

const NO_TOOL = { kind: "refused", code: "unknown_tool", message: "There are no tools here." } as const;
const NO_TOOLS: ToolGate = {
  specs: () => [],
  offered: async () => [],
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
  call: async () => NO_TOOL,
  admit: async () => NO_TOOL,
  recordRejected: () => undefined,
};
const NO_EVENTS: Events = { emit: () => undefined, on: () => ({ [Symbol.dispose]: () => undefined }) };

export async function probePi(
  deps: { readonly clock: Clock; readonly ids: Ids; readonly log: Log },
  options: PoolOptions,
  signal: AbortSignal,
): Promise<PiProbe> {
  const began = deps.clock.elapsed();
  try {
    const agent = await startAgent(
      { ...deps, tools: NO_TOOLS, events: NO_EVENTS },
      await startSettings({ ...options, folder: profileFolder(DEFAULT_AGENT) }),
      signal,
    );
    const ms = Math.round(deps.clock.elapsed() - began);
    await agent.process.stop(false);
    return { kind: "ok", model: agent.model, ms };
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return { kind: "failed", code: error.code, say: error.say, detail: error.message };
  }
}
