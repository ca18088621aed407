/** The form of one row of the route table. A row without an answer to "who may call this" does not type-check. */
import type { Server } from "bun";
import { GatewayError } from "../contracts/errors.ts";
import type { HttpApi, RouteName } from "../contracts/http-api.ts";
import { OPERATOR, type Principal } from "../contracts/ids.ts";
import type { ToolContext } from "../contracts/tools/tool.ts";
import type { Identity } from "./access/auth.ts";
import type { ClientAddress } from "./access/client-address.ts";
import type { KeyNeed } from "./access/key-reach.ts";
import type { Disposition } from "./access/media-links.ts";
import type { SocketData } from "./ws/sockets.ts";

export type Route = RouteRow & RouteAccess;

interface RouteRow {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** `/api/sessions/:key`: a part that starts with a colon matches one path segment. */
  readonly path: string;
  /** Host names that are answered here, besides those of the gateway. */
  readonly hosts?: readonly string[];
  readonly body: BodyRule;
  handle(call: Call): Promise<Reply> | Reply;
  /** Told of a request that did not get as far as `handle`: nobody known asks (null), or its body is not what the row takes. */
  refused?(error: GatewayError, asking: Pick<Call, "identity" | "agent"> | null): void;
}

/**
 * `public`: anyone. `signed`: the address itself carries an unexpired signature. `hook`: the token of hooks, and nothing else. `operator`:
 * token or cookie, or a key that has what `scope` needs. `agent`: the same, or the token of an agent process that works on a turn now.
 */
type RouteAccess =
  | { readonly auth: "public" | "signed" | "hook"; readonly scope: "open" }
  | { readonly auth: "operator" | "agent"; readonly scope: KeyNeed };

type BodyRule =
  | { readonly kind: "none" }
  | { readonly kind: "json"; readonly maxBytes: MaxBytes }
  | { readonly kind: "bytes"; readonly maxBytes: MaxBytes };

/** A function where the settings decide. */
export type MaxBytes = number | (() => number);

export function bytesOf(maxBytes: MaxBytes): number {
  return typeof maxBytes === "number" ? maxBytes : maxBytes();
}

/** `upgraded`: the connection is a WebSocket now and there is nothing to answer. */
export type Reply = Response | "upgraded";

export interface Call {
  readonly request: Request;
  readonly requestId: string;
  readonly server: Server<SocketData>;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly client: ClientAddress;
  /** Null on public and signed routes: nobody is asked for there. */
  readonly identity: Identity | null;
  /** For whom a script inside an agent process asks; null when it is not one. */
  readonly agent: ToolContext | null;
  readonly disposition: Disposition;
  /** The parsed body of a json route, not yet checked by a schema. */
  readonly json: unknown;
  readonly bytes: Uint8Array;
  /** Aborts when the client has gone, its credential was replaced, or the server stops. */
  readonly signal: AbortSignal;
}

export const NO_BODY: BodyRule = { kind: "none" };
export const SMALL_JSON: BodyRule = { kind: "json", maxBytes: 1024 * 1024 };

/** What most rows begin with: the operator reads, or acts without a body. */
export const OPERATOR_GET = { method: "GET", auth: "operator", body: NO_BODY } as const;
export const OPERATOR_POST = { method: "POST", auth: "operator", body: NO_BODY } as const;

/** A part of the path by its name in the row. */
export function param({ params }: Call, name: string): string {
  return params[name] ?? "";
}

/** Who calls a route of the operator: somebody is always there. */
export function identityOf({ identity }: Pick<Call, "identity">): Identity {
  if (identity) return identity;
  throw new GatewayError("unauthorized", "nobody is calling");
}

/** The same, by id. */
export function principalOf({ identity }: Call): Principal {
  return identity?.principal ?? OPERATOR;
}

export function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });
}

/** The answer of a row, as `HttpApi` says it: clients are typed by the same. */
export function jsonOf<R extends RouteName>(value: HttpApi[R]["result"], status = 200): Response {
  return json(value, status);
}

export function noContent(headers: Record<string, string> = {}): Response {
  return new Response(null, { status: 204, headers });
}
