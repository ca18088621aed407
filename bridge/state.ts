/** State that outlives an extension instance: pi makes a new one for every session, the process and its tools stay. */
import type { RealText } from "../src/contracts/agent.ts";
import type { ToolSpec } from "../src/contracts/tools/tool.ts";
import type { Order } from "./orders.ts";

export interface BridgeState {
  /** The tools of now, in order. A spec that did not change is the same object as before. */
  specs: readonly ToolSpec[];
  /** Which of pi tools are on. */
  own: readonly string[];
  /** Names this bridge has ever offered, so that tools of others are left alone. */
  readonly known: Set<string>;
  /** Calls that are running now, by call id. */
  readonly running: Map<string, (text: string) => void>;
  /** Calls of the running turn that the gateway has been asked about. pi refuses others without asking. */
  readonly judged: Set<string>;
  /** Texts that pi is to keep in the place of real results, by call id. */
  readonly kept: Map<string, string>;
  /** Pieces of the prompt that the model of the running turn reads otherwise than pi keeps them. */
  realTexts: readonly RealText[];
  /** What the program that asks tells the model of the running turn; empty: nothing. */
  instructions: string;
}

const KEY = Symbol.for("pi-gateway.bridge");

export function bridgeState(): BridgeState {
  const holder = globalThis as { [KEY]?: BridgeState };
  holder[KEY] ??= {
    specs: [],
    own: [],
    known: new Set(),
    running: new Map(),
    judged: new Set(),
    kept: new Map(),
    realTexts: [],
    instructions: "",
  };
  return holder[KEY];
}

/** Throws when the order builds on tools that are not here; the gateway then sends all of them. */
export function takeTools(state: BridgeState, order: Extract<Order, { kind: "tools" }>): void {
  const known = new Map([...state.specs, ...order.specs].map((spec) => [spec.name, spec]));
  const specs = order.names.map((name) => {
    const spec = known.get(name);
    if (!spec) throw new Error(`the tool ${name} was never described`);
    return spec;
  });
  for (const name of order.names) state.known.add(name);
  state.specs = specs;
  state.own = order.own;
}
