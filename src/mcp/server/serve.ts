/**
 * Serves MCP over HTTP: revision 2026-07-28, in which every request stands alone, and the sessions of clients that begin with `initialize`.
 * Loads the library, so it is loaded with the first request.
 */
import {
  createMcpHandler,
  createRequestStateCodec,
  InMemoryServerEventBus,
  isLegacyRequest,
  type McpHttpHandler,
  Server,
} from "@modelcontextprotocol/server";
import type { Principal } from "../../contracts/ids.ts";
import type { McpAsking, McpDoor } from "../../contracts/mcp-door.ts";
import type { McpDoorDeps } from "./deps.ts";
import { opens } from "./families.ts";
import { createLegacySessions } from "./legacy-sessions.ts";
import type { RoundState } from "./rounds.ts";
import { createRunningCalls } from "./running-calls.ts";
import { serveTools } from "./tool-methods.ts";

const STATE_SECONDS = 12 * 60;
/** Of one person: streams that wait for changes. */
const MAX_SUBSCRIPTIONS = 64;
const MAX_ROUNDS = 32;

/** One principal: nobody hears of what another one does. */
interface Person {
  readonly modern: McpHttpHandler;
}

export function createServing(deps: McpDoorDeps): McpDoor {
  const calls = createRunningCalls(deps.clock);
  const people = new Map<Principal, Person>();
  const makeServer = (asking: McpAsking, era: "legacy" | "modern"): Server => {
    const { principal } = asking.caller;
    const hasTools = opens(asking.key, "tools");
    const codec = createRequestStateCodec<RoundState>({
      key: deps.stateKey,
      ttlSeconds: STATE_SECONDS,
      bind: ({ mcpReq }) => `${principal}\n${mcpReq.method}`,
    });
    const server = new Server(
      { name: "pi-gateway", title: "pi-gateway", version: deps.version },
      {
        capabilities: hasTools ? { tools: { listChanged: true } } : {},
        requestState: { verify: codec.verify },
        inputRequired: { maxRounds: MAX_ROUNDS },
      },
    );
    const { ids, log, events } = deps;
    const { approvals, questions } = deps.tools;
    if (hasTools) serveTools(deps, { ids, log, events, approvals, questions, calls, codec, era }, server, asking);
    return server;
  };
  const legacy = createLegacySessions(deps, (asking) => makeServer(asking, "legacy"));
  const personOf = (asking: McpAsking): Person => {
    const { principal } = asking.caller;
    const known = people.get(principal);
    if (known) return known;
    const modern = createMcpHandler(({ authInfo }) => makeServer(askingIn(authInfo, asking), "modern"), {
      legacy: "reject",
      bus: new InMemoryServerEventBus(),
      maxSubscriptions: MAX_SUBSCRIPTIONS,
      onerror: (error) => deps.log.debug("request of an MCP client refused", { error }),
    });
    const person = { modern };
    people.set(principal, person);
    if (asking.key)
      deps.keys.ending(asking.key.id).addEventListener("abort", () => void forget(principal), { once: true });
    return person;
  };
  /** Never rejects. */
  const forget = async (principal: Principal): Promise<void> => {
    const person = people.get(principal);
    people.delete(principal);
    calls.end(principal);
    try {
      await legacy.end(principal);
      await person?.modern.close();
    } catch (error) {
      deps.log.error("connections of an MCP client not closed", { error });
    }
  };
  return {
    async answer(request, asking) {
      const person = personOf(asking);
      if (await isLegacyRequest(request)) return legacy.answer(request, asking);
      return person.modern.fetch(request, { authInfo: authInfoOf(asking) });
    },
    async [Symbol.asyncDispose]() {
      calls[Symbol.dispose]();
      await Promise.all([...people.keys()].map(forget));
    },
  };
}

/** The library hands these on to what makes the server of one request; it looks at none of it. */
function authInfoOf(asking: McpAsking) {
  return { token: "", clientId: asking.caller.principal, scopes: [], extra: { asking } };
}

function askingIn(authInfo: { readonly extra?: Record<string, unknown> } | undefined, first: McpAsking): McpAsking {
  const asking = authInfo?.extra?.["asking"];
  return asking === undefined ? first : (asking as McpAsking); // put there by authInfoOf
}
