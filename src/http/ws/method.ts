/** The form of one method of the event socket: its schema and its function, tied to the types that clients rely on. */
import type { Principal } from "../../contracts/ids.ts";
import type { WireMethods } from "../../contracts/wire.ts";
import type { Checked } from "../checked.ts";
import type { Socket } from "./sockets.ts";

export type Method = (params: unknown, socket: Socket) => Promise<unknown>;
export type Params<M extends keyof WireMethods> = WireMethods[M]["params"];
export type Result<M extends keyof WireMethods> = WireMethods[M]["result"];

export function method<M extends keyof WireMethods>(
  params: Checked<Params<M>>,
  run: (params: Params<M>, socket: Socket) => Promise<Result<M>> | Result<M>,
): Method {
  return async (given, socket) => run(await params.parse(given), socket);
}

export const principalOf = (socket: Socket): Principal => socket.data.identity.principal;
