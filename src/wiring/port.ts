/** Opens the port with what the configuration says about it. */
import { type Config, publicConfig } from "../config/index.ts";
import { accessSettings, type HttpDeps, type HttpServer, listenOptions, openHttp } from "../http/index.ts";
import type { Secret } from "../kit/secret.ts";
import { chooseSession } from "../routing/index.ts";

export interface PortOptions {
  readonly token: Secret;
  readonly mediaKey: Parameters<typeof openHttp>[1]["mediaKey"];
}

export function openPort(
  deps: Omit<HttpDeps, "sessions" | "publicConfig">,
  config: () => Config,
  { token, mediaKey }: PortOptions,
): HttpServer {
  return openHttp(
    {
      ...deps,
      sessions: { parse: (text, agent) => chooseSession(config(), text, agent) },
      publicConfig: () => publicConfig(config()),
    },
    { ...accessSettings(config(), token), ...listenOptions(config()), mediaKey },
  );
}
