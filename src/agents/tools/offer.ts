/** What a process has been told about tools, and what it still needs to hear: only the difference travels. Pure. */
import type { ToolSpec } from "../../contracts/tools/tool.ts";

export interface Offer {
  readonly specs: ReadonlyMap<string, ToolSpec>;
  /** pi tools that are on. */
  readonly own: readonly string[];
  /** For scripts of the agent, as PI_GATEWAY_SESSION_KEY; null: the process serves nobody. */
  readonly session: string | null;
}

/** As bridge/orders.ts reads it. */
export interface ToolsOrder {
  readonly kind: "tools";
  readonly names: readonly string[];
  readonly specs: readonly ToolSpec[];
  readonly own: readonly string[];
  readonly session: string | null;
}

export interface OfferChange {
  readonly order: ToolsOrder;
  readonly offer: Offer;
}

/** Null when the process has it all. `given` null: nothing is known of what it has. */
export function offerChange(
  given: Offer | null,
  specs: readonly ToolSpec[],
  own: readonly string[],
  session: string | null = null,
): OfferChange | null {
  const changed = specs.filter((spec) => !sameSpec(given?.specs.get(spec.name), spec));
  const names = specs.map(({ name }) => name);
  const same = given && changed.length === 0 && sameList([...given.specs.keys()], names) && sameList(given.own, own);
  if (same && given.session === session) return null;
  return {
    order: { kind: "tools", names, specs: changed, own, session },
    offer: { specs: new Map(specs.map((spec) => [spec.name, spec])), own, session },
  };
}

/** A schema is nearly always the very same object; only when it is not are its contents compared. */
function sameSpec(a: ToolSpec | undefined, b: ToolSpec): boolean {
  if (a === b) return true;
  if (!a || a.label !== b.label || a.description !== b.description || a.client !== b.client) return false;
  if (!sameList(a.otherNames ?? [], b.otherNames ?? [])) return false;
  return a.parameters === b.parameters || JSON.stringify(a.parameters) === JSON.stringify(b.parameters);
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at]);
}
