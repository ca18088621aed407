/** Where spans are sent to: the configuration first, then the variables that OpenTelemetry has for it. Pure. */
import { type Secret, secret } from "../kit/secret.ts";
import type { Config } from "./schema.ts";

export interface OtelSettings {
  /** The whole address, with `/v1/traces`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly serviceName: string;
}

type Variables = (name: string) => string | undefined;

const TRACES = "/v1/traces";
const HEADER_NAME = /^[A-Za-z0-9-]{1,64}$/;

/** Null: nothing is sent. */
export function otelSettings({ observe }: Pick<Config, "observe">, variables: Variables): OtelSettings | null {
  const { endpoint, headers, serviceName } = observe.otel;
  if (endpoint !== undefined) return { url: withTraces(endpoint), headers, serviceName };
  if (variables("OTEL_SDK_DISABLED")?.toLowerCase() === "true") return null;
  const traces = variables("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  const base = variables("OTEL_EXPORTER_OTLP_ENDPOINT");
  const url = traces || (base && withTraces(base));
  if (!url || !/^https?:\/\/./.test(url)) return null;
  const written = variables("OTEL_EXPORTER_OTLP_TRACES_HEADERS") ?? variables("OTEL_EXPORTER_OTLP_HEADERS") ?? "";
  return { url, headers: headersIn(written), serviceName: variables("OTEL_SERVICE_NAME") || serviceName };
}

function withTraces(endpoint: string): string {
  const base = endpoint.replace(/\/+$/, "");
  return base.endsWith(TRACES) ? base : `${base}${TRACES}`;
}

/** `name=value,name=value`, with values as in addresses. */
function headersIn(text: string): Readonly<Record<string, Secret>> {
  const pairs = text.split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    const name = pair.slice(0, Math.max(0, at)).trim();
    return HEADER_NAME.test(name) ? [[name, secret(decoded(pair.slice(at + 1).trim()))] as const] : [];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // somebody wrote it as it is
  }
}
