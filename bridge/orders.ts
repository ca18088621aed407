/** Orders of the gateway to the bridge, checked before use. Anything else is an error, which pi reports back to the gateway. */
import type { RealText } from "../src/contracts/agent.ts";
import type { ToolSpec } from "../src/contracts/tools/tool.ts";

export type Order =
  /**
   * All tools by name, in order; of those the bridge does not have in this form also what they are. `own`: which of pi's own are on.
   * `session`: the key of the conversation that the process serves; null: none.
   */
  | {
      readonly kind: "tools";
      readonly names: readonly string[];
      readonly specs: readonly ToolSpec[];
      readonly own: readonly string[];
      readonly session: string | null;
    }
  | { readonly kind: "progress"; readonly callId: string; readonly text: string }
  /** Pieces of the next prompt that its model reads otherwise than pi keeps them. */
  | { readonly kind: "real"; readonly texts: readonly RealText[] }
  /** What the program that asks tells the model of the next turn. */
  | { readonly kind: "instructions"; readonly text: string };

export function parseOrder(json: string): Order {
  const order: unknown = JSON.parse(json);
  if (!isRecord(order)) throw new Error("the order is not an object");
  const { kind, names, specs, own, session, callId, text, texts } = order;
  const isSession = session === null || typeof session === "string";
  if (kind === "tools" && isSession && isNames(names) && isNames(own) && Array.isArray(specs) && specs.every(isSpec)) {
    return { kind: "tools", names, specs, own, session };
  }
  if (kind === "progress" && typeof callId === "string" && typeof text === "string") {
    return { kind: "progress", callId, text };
  }
  if (kind === "real" && Array.isArray(texts) && texts.every(isRealText)) return { kind: "real", texts };
  if (kind === "instructions" && typeof text === "string") return { kind: "instructions", text };
  throw new Error("the order is of no known kind");
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function isRealText(value: unknown): value is RealText {
  return isRecord(value) && typeof value.kept === "string" && typeof value.real === "string";
}

function isSpec(value: unknown): value is ToolSpec {
  return (
    isRecord(value) &&
    typeof value.name === "string" &&
    typeof value.label === "string" &&
    typeof value.description === "string" &&
    isRecord(value.parameters) &&
    (value.otherNames === undefined || isNames(value.otherNames)) &&
    (value.client === undefined || value.client === true)
  );
}
