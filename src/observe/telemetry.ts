/** The door to the export of OpenTelemetry spans: what is behind it is loaded when somebody has a collector. */
import type { OtelDeps, OtelOptions } from "./otel/otel.ts";

export async function startTelemetry(deps: OtelDeps, options: OtelOptions): Promise<AsyncDisposable> {
  const { startOtel } = await import("./otel/otel.ts");
  return startOtel(deps, options);
}
