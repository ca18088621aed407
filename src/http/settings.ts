/** Server options from the configuration. */
import type { Config } from "../config/index.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { Secret } from "../kit/secret.ts";
import type { AccessSettings, HttpOptions, MessageLimits } from "./types.ts";

/** What may change while the server runs. */
export function accessSettings(config: Config, token: Secret): AccessSettings {
  const { auth, allowedHosts, trustedProxies } = config.gateway;
  const password = auth.mode === "password" ? (auth.password ?? null) : null;
  return { auth: { token, password, hookToken: hookToken(config, token) }, allowedHosts, trustedProxies };
}

/** Null while hooks are off, and when it would open the rest of the gateway too. */
function hookToken({ hooks }: Config, token: Secret): Secret | null {
  const own = hooks.enabled ? hooks.token : undefined;
  return own === undefined || own.reveal() === token.reveal() ? null : own;
}

/** Everything the server is opened with. Throws GatewayError when webhooks have the gateway's own token. */
export function httpOptions(
  config: () => Config,
  { token, mediaKey, severalGateways }: Pick<HttpOptions, "mediaKey" | "severalGateways"> & { readonly token: Secret },
): HttpOptions {
  refuseSharedToken(config(), token);
  const { port, bind } = config().gateway;
  const hostname = bind === "loopback" ? "127.0.0.1" : bind === "lan" ? "0.0.0.0" : bind;
  const limits = () => messageLimits(config());
  return { ...accessSettings(config(), token), port, hostname, mediaKey, severalGateways, limits };
}

/** The gateway's own token may be in a file of its own, so this cannot be seen in the configuration alone. */
function refuseSharedToken({ hooks }: Config, token: Secret): void {
  if (!hooks.enabled || hooks.token?.reveal() !== token.reveal()) return;
  throw new GatewayError("config_invalid", "hooks.token is the token of the gateway", {
    say: "hooks.token is the same as the token of the gateway, so every sender of a hook could do all that you can. Choose another one.",
  });
}

/** Asked for with each message, so that a changed configuration holds from the next one on. */
export function messageLimits(config: Config): MessageLimits {
  return {
    maxUploadBytes: Math.min(config.media.maxMb, config.channels.webchat.mediaMaxMb ?? Infinity) * 1024 * 1024,
    maxMessageChars: config.queue.maxMessageChars,
  };
}
