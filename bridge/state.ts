/** What has to outlive an extension instance: pi makes a new one for every session, the process and its tools stay. */
import type { ToolSpec } from "../src/contracts/tools/tool.ts";

export interface BridgeState {
  specs: readonly ToolSpec[];
  /** Names this bridge has activated, so that tools of others are left alone. */
  active: readonly string[];
  /** Calls that are running now, by call id. */
  readonly running: Map<string, (text: string) => void>;
}

const KEY = Symbol.for("pi-gateway.bridge");

export function bridgeState(): BridgeState {
  const holder = globalThis as { [KEY]?: BridgeState };
  holder[KEY] ??= { specs: [], active: [], running: new Map() };
  return holder[KEY];
}
