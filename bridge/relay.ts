/**
 * The ports that programs of this process find on the loopback network of its sandbox, which has no other network: the gateway's own, at its
 * usual address, and a proxy for hosts outside. Everything is passed on through the connection to the gateway, which decides.
 */
import { relayPort } from "../src/kit/mux/relay-port.ts";
import { proxyVariables } from "../src/kit/proxy-variables.ts";
import { gatewayConnection } from "./connection.ts";
import { isRecord } from "./orders.ts";

const KEY = Symbol.for("pi-gateway.relay");

/** As the gateway says it: `{"gateway": 8787}`. Nothing: this process has the machine's network. */
export function relayPorts(): void {
  const holder = globalThis as { [KEY]?: true };
  const plan: unknown = JSON.parse(process.env.PI_GATEWAY_RELAY ?? "null");
  if (holder[KEY] || !isRecord(plan)) return;
  holder[KEY] = true;
  delete process.env.PI_GATEWAY_RELAY;
  const connection = gatewayConnection();
  if (typeof plan.gateway === "number") relayPort(connection, plan.gateway, "gateway");
  // for the programs that this process starts from now on
  Object.assign(process.env, proxyVariables(`http://127.0.0.1:${relayPort(connection, 0, "host")}`));
}
