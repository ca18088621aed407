/**
 * The client of a running gateway: client.ts is what programs import as `pi-gateway/client`; the command line uses the requests below it, with
 * sentences of its own for what goes wrong.
 */
export { createGatewayClient } from "./client.ts";
export { isGatewayRequestError, readJson, send } from "./http.ts";
export { readServerEvents, type ServerEvent } from "./server-events.ts";
