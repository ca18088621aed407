/** The configuration's words about the port → the server's options. */
import type { Config } from "../config/index.ts";
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

/** What is fixed at start. */
export function listenOptions(config: Config): Pick<HttpOptions, "port" | "hostname"> {
  const { port, bind } = config.gateway;
  const hostname = bind === "loopback" ? "127.0.0.1" : bind === "lan" ? "0.0.0.0" : bind;
  return { port, hostname };
}

/** Asked for with each message, so that a changed configuration holds from the next one on. */
export function messageLimits(config: Config): MessageLimits {
  return {
    maxUploadBytes: Math.min(config.media.maxMb, config.channels.webchat.mediaMaxMb ?? Infinity) * 1024 * 1024,
    maxMessageChars: config.queue.maxMessageChars,
  };
}
