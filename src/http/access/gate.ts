/** The checks every request passes before anything is done for it: host, address, origin, who. Decides; does no work. */
import { GatewayError } from "../../contracts/errors.ts";
import type { AgentTokens } from "../../contracts/tools/agent-token.ts";
import type { ToolContext } from "../../contracts/tools/tool.ts";
import type { Auth, Identity } from "./auth.ts";
import { readBearer } from "./bearer.ts";
import type { ClientAddress } from "./client-address.ts";
import { type Hosts, isSameHost } from "./hosts.ts";
import type { Disposition, MediaLinks } from "./media-links.ts";
import type { Match } from "../route-match.ts";
import { lockedOut } from "../problem.ts";
import { requireNeed } from "./key-reach.ts";

/** Never in an address: addresses end up in histories, logs and referrers. */
const SECRET_PARAMS = ["token", "access_token", "code", "password"];
/** A page of another site cannot set this header without asking first, and we never say yes. */
const CONSOLE_HEADER = "x-pi-gateway";

interface Asked {
  readonly headers: Headers;
  readonly method: string;
  /** The host of the request target as the server shows it; null when it shows none. */
  readonly host: string | null;
  readonly query: URLSearchParams;
  readonly client: ClientAddress;
}

interface Allowed {
  readonly identity: Identity | null;
  readonly agent: ToolContext | null;
  readonly disposition: Disposition;
}

export function isUpgrade(headers: Headers): boolean {
  return headers.get("upgrade")?.toLowerCase() === "websocket";
}

function changesThings(asked: Pick<Asked, "headers" | "method">): boolean {
  return (asked.method !== "GET" && asked.method !== "HEAD") || isUpgrade(asked.headers);
}

/** Where it comes from, as far as a browser tells. Runs before credentials are looked at, so that a hostile page cannot even cause a lockout. */
export function refuseStrangers(hosts: Hosts, asked: Omit<Asked, "client">, match: Match = { kind: "unknown" }): void {
  const also = match.kind === "row" ? (match.route.hosts ?? []) : [];
  const allows = (host: string | null) => hosts.allowsHost(host) || also.some((name) => isSameHost(name, host));
  if (!allows(asked.headers.get("host"))) throw new GatewayError("wrong_host", "host not allowed");
  // The host of an absolute-form target outranks the Host header (RFC 9112, 3.2.2). Bun 1.4 hides it and shows the header's instead.
  if (asked.host !== null && !allows(asked.host))
    throw new GatewayError("wrong_host", "host of the target not allowed");
  if (SECRET_PARAMS.some((name) => asked.query.has(name))) {
    throw new GatewayError("bad_request", "secret in the query", {
      say: "Secrets do not belong in an address. Send the token in the Authorization header instead.",
    });
  }
  const origin = asked.headers.get("origin");
  if (origin !== null && (origin === "null" || changesThings(asked)) && !hosts.allowsOrigin(origin)) {
    throw new GatewayError("forbidden", "origin not allowed", {
      say: "Pages of other sites may not call this gateway.",
    });
  }
  const navigation = asked.headers.get("sec-fetch-mode") === "navigate" && !changesThings(asked);
  if (asked.headers.get("sec-fetch-site") === "cross-site" && !navigation) {
    throw new GatewayError("forbidden", "cross-site request", {
      say: "Pages of other sites may not call this gateway.",
    });
  }
}

/** Who asks, and whether that is enough for the row. Without a sign-in, unknown paths look the same as known ones. */
export async function authorize(
  deps: { auth: Auth; agentTokens: AgentTokens; links: MediaLinks; hosts: Hosts },
  asked: Asked,
  match: Match,
): Promise<Allowed> {
  const policy = match.kind === "row" ? match.route.auth : "operator";
  const nobody = { identity: null, agent: null, disposition: "inline" } as const;
  if (policy === "public") return nobody;
  if (policy === "hook") {
    enterHook(deps.auth, asked);
    return nobody;
  }
  if (policy === "signed" && match.kind === "row") {
    const disposition = deps.links.verify(match.params["id"] ?? "", asked.query);
    if (disposition !== null) return { ...nobody, disposition };
    throw new GatewayError("unauthorized", "bad media link", { say: "This link is not valid, or it has expired." });
  }
  const agent = agentOf(deps.agentTokens, asked.headers, policy === "agent");
  if (agent) return { ...nobody, agent };
  const verdict = await deps.auth.authorize(asked.headers, asked.client.key);
  if (verdict.kind === "locked") throw lockedOut(verdict.retryAfterMs);
  if (verdict.kind !== "known") throw new GatewayError("unauthorized", verdict.kind);
  if (verdict.identity.by === "cookie") refuseForgedCookieUse(deps.hosts, asked);
  const { identity } = verdict;
  deps.auth.count(identity);
  if (match.kind === "row" && match.route.scope !== "open") requireNeed(identity, match.route.scope);
  return { ...nobody, identity };
}

function enterHook(auth: Auth, { headers, client }: Asked): void {
  const verdict = auth.authorizeHook(headers, client.key);
  if (verdict.kind === "in") return;
  if (verdict.kind === "locked") throw lockedOut(verdict.retryAfterMs);
  throw new GatewayError("unauthorized", `hook: ${verdict.kind}`, {
    say: "Hooks are called with the token of hooks.token as a bearer token.",
  });
}

/**
 * The token of an agent process opens a few rows only, and only while that process works for somebody. Looked at before the operator's, so
 * that a script with an old token does not count as somebody who guesses.
 */
function agentOf(tokens: AgentTokens, headers: Headers, mayEnter: boolean): ToolContext | null {
  const token = readBearer(headers.get("authorization"));
  if (token === null || !tokens.known(token)) return null;
  if (!mayEnter)
    throw new GatewayError("forbidden", "agent token on another route", {
      say: "The token of an agent opens only /api/tools and /api/tools/call.",
    });
  const context = tokens.resolve(token);
  if (context) return context;
  throw new GatewayError("forbidden", "agent token outside of a turn", {
    say: "This token speaks only while its agent works on a turn.",
  });
}

/** Browsers send cookies along without being asked, so a cookie alone does not tell which site made the request. */
function refuseForgedCookieUse(hosts: Hosts, asked: Asked): void {
  const forged = (detail: string) => new GatewayError("forbidden", detail);
  const site = asked.headers.get("sec-fetch-site");
  // `same-site` is refused too: any other port of this machine counts as the same site.
  if (site !== null && site !== "same-origin" && site !== "none") throw forged("cookie from another site");
  if (!changesThings(asked)) return;
  const origin = asked.headers.get("origin");
  if (origin === null || !hosts.allowsOrigin(origin)) throw forged("cookie without a known origin");
  if (!isUpgrade(asked.headers) && asked.headers.get(CONSOLE_HEADER) !== "1")
    throw forged("cookie without console header");
}
