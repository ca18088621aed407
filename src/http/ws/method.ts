/** The form of one method of the event socket: its schema and its function, tied to the types that clients rely on. */
import type { Principal } from "../../contracts/ids.ts";
import type { WireMethods } from "../../contracts/wire.ts";
import type { Identity } from "../access/auth.ts";
import type { KeyNeed } from "../access/key-reach.ts";
import type { Checked } from "../checked.ts";
import type { Socket } from "./sockets.ts";

/** A method without an answer to "what does a key need for this" does not type-check. */
export interface Method {
  readonly need: KeyNeed;
  run(params: unknown, socket: Socket): Promise<unknown>;
}
export type Params<M extends keyof WireMethods> = WireMethods[M]["params"];
export type Result<M extends keyof WireMethods> = WireMethods[M]["result"];

export function method<M extends keyof WireMethods>(
  need: KeyNeed,
  params: Checked<Params<M>>,
  run: (params: Params<M>, socket: Socket) => Promise<Result<M>> | Result<M>,
): Method {
  return { need, run: async (given, socket) => run(await params.parse(given), socket) };
}

export const identityOf = (socket: Socket): Identity => socket.data.identity;
export const principalOf = (socket: Socket): Principal => socket.data.identity.principal;
