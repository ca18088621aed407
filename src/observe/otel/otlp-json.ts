/** Spans as OTLP writes them in JSON: ids as hexadecimal text, times as text of nanoseconds, enumerations as numbers. Pure. */
import type { AttributeValue, OtelSpan } from "./genai-spans.ts";

const KINDS = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;
const SCOPE = "pi-gateway";

export interface OtelResource {
  readonly serviceName: string;
  readonly version: string;
  /** Tells gateways of one service apart. */
  readonly instanceId: string;
}

/** The body of one `POST /v1/traces`. */
export function otlpBody(spans: readonly OtelSpan[], { serviceName, version, instanceId }: OtelResource): string {
  const resource = { "service.name": serviceName, "service.version": version, "service.instance.id": instanceId };
  const scopeSpans = [{ scope: { name: SCOPE, version }, spans: spans.map(spanOf) }];
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] });
}

function spanOf({ traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, isError }: OtelSpan) {
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanosOf(startMs),
    endTimeUnixNano: nanosOf(Math.max(startMs, endMs)), // a clock that was set back must not make a span end before it began
    attributes: attributesOf(attributes),
    status: isError ? { code: STATUS_ERROR } : {},
  };
}

function attributesOf(attributes: Readonly<Record<string, AttributeValue>>) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

/** Whole numbers are text, because JSON has none of 64 bits. */
function valueOf(value: AttributeValue) {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function nanosOf(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}
