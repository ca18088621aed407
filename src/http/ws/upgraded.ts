/** Makes a WebSocket of a request, for either of the protocols that are spoken here. */
import { GatewayError } from "../../contracts/errors.ts";
import { isUpgrade } from "../access/gate.ts";
import type { Call, Reply } from "../route.ts";
import type { HttpDeps } from "../types.ts";
import { createFrameRate } from "./frame-rate.ts";
import type { SocketProtocol } from "./sockets.ts";

/** `protocol` null: events and methods of the gateway. */
export function upgraded(
  { clock }: Pick<HttpDeps, "clock">,
  { request, server, identity, requestId }: Call,
  protocol: SocketProtocol | null,
): Reply {
  const headers = { "x-request-id": requestId };
  const data = identity && {
    identity,
    protocol,
    rate: createFrameRate(clock),
    inFlight: 0,
    following: new Map(),
    sending: Promise.resolve(),
    gone: new AbortController(),
  };
  if (data && isUpgrade(request.headers) && server.upgrade(request, { data, headers })) return "upgraded";
  throw new GatewayError("bad_request", "no upgrade", { say: "This address takes WebSocket connections only." });
}
