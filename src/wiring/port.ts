/** Opens the port with what the configuration says about it. */
import { type Config, publicConfig } from "../config/index.ts";
import { GatewayError } from "../contracts/errors.ts";
import {
  accessSettings,
  type HttpDeps,
  type HttpServer,
  listenOptions,
  messageLimits,
  openHttp,
} from "../http/index.ts";
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
  refuseSharedToken(config(), token);
  return openHttp(
    {
      ...deps,
      sessions: { parse: (text, agent) => chooseSession(config(), text, agent) },
      publicConfig: () => publicConfig(config()),
    },
    {
      ...{ ...accessSettings(config(), token), ...listenOptions(config()), mediaKey },
      limits: () => messageLimits(config()),
    },
  );
}

/** The gateway's own token may be in a file of its own, so this cannot be seen in the configuration alone. */
export function refuseSharedToken({ hooks }: Config, token: Secret): void {
  if (!hooks.enabled || hooks.token?.reveal() !== token.reveal()) return;
  throw new GatewayError("config_invalid", "hooks.token is the token of the gateway", {
    say: "hooks.token is the same as the token of the gateway, so every sender of a hook could do all that you can. Choose another one.",
  });
}
