/** Exports spans while an endpoint is set, in the configuration or the environment. The exporter is loaded when there is one. */
import { otelSettings, type OtelSettings, sameSettings } from "../config/index.ts";
import { background } from "../kit/background.ts";
import { systemResolver } from "../kit/outside/public-address.ts";
import { startTelemetry } from "../observe/index.ts";
import type { Core } from "./core.ts";

interface Running {
  readonly settings: OtelSettings;
  readonly exporter: Promise<AsyncDisposable>;
}

export function beginTelemetry(core: Core): AsyncDisposable {
  const { clock, log, events, config, options, secrets, store } = core;
  let running: Running | null = null;
  const start = ({ url, headers, serviceName }: OtelSettings): Promise<AsyncDisposable> => {
    const resource = { serviceName, version: options.version, instanceId: store.instanceId };
    return startTelemetry({ clock, log, events, resolve: systemResolver }, { url, headers, resource });
  };
  const stop = async (one: Running | null): Promise<void> => {
    if (one !== null) await (await one.exporter)[Symbol.asyncDispose]();
  };
  /** Again after every reload: the settings hold at once. */
  const follow = (): void => {
    const wanted = otelSettings(config(), options.environment.variables);
    if (sameSettings(running?.settings ?? null, wanted)) return;
    const before = running;
    background(log, "could not end the export of telemetry", () => stop(before));
    for (const value of Object.values(wanted?.headers ?? {})) secrets.hide(value);
    running = wanted && { settings: wanted, exporter: start(wanted) };
    if (running) log.info("telemetry is exported", { url: running.settings.url });
  };
  follow();
  const listening = events.on("status", ({ what }) => {
    if (what === "config") follow();
  });
  return {
    async [Symbol.asyncDispose]() {
      listening[Symbol.dispose]();
      await stop(running);
    },
  };
}
