/**
 * IRC as a channel of the gateway, brought by a plugin. `config.ts` reads the settings, `plugin.ts` connects and keeps connected, `inbound.ts`
 * takes in what people say, `outbound.ts` says what they are answered; `wire/` is the protocol itself. Nothing of the gateway is imported but
 * types, so the folder works wherever it is copied to; what channels share comes with `deps.kit`.
 */
import type { GatewayPluginApi } from "pi-gateway/plugin";
import { readSettings } from "./config.ts";
import { createIrc } from "./plugin.ts";

export default function irc(api: GatewayPluginApi): void {
  api.registerChannel(createIrc(readSettings(api.config)));
}
