/** What the gateway tells the bridge, checked before use. Anything else is an error, which pi reports back to the gateway. */
import type { ToolSpec } from "../src/contracts/tools/tool.ts";

export type Order =
  | { readonly kind: "tools"; readonly specs: readonly ToolSpec[] }
  | { readonly kind: "progress"; readonly callId: string; readonly text: string };

export function parseOrder(json: string): Order {
  const order: unknown = JSON.parse(json);
  if (!isRecord(order)) throw new Error("the order is not an object");
  if (order.kind === "tools" && Array.isArray(order.specs) && order.specs.every(isSpec)) {
    return { kind: "tools", specs: order.specs };
  }
  if (order.kind === "progress" && typeof order.callId === "string" && typeof order.text === "string") {
    return { kind: "progress", callId: order.callId, text: order.text };
  }
  throw new Error("the order is of no known kind");
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSpec(value: unknown): value is ToolSpec {
  return (
    isRecord(value) &&
    typeof value.name === "string" &&
    typeof value.label === "string" &&
    typeof value.description === "string" &&
    isRecord(value.parameters)
  );
}
