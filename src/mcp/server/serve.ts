/**
 * Serves MCP over HTTP: revision 2026-07-28, in which every request stands alone, and the sessions of clients that begin with `initialize`.
 * Loads the library, so it is loaded with the first request.
 */
import {
  createMcpHandler,
  InMemoryServerEventBus,
  isLegacyRequest,
  type McpHttpHandler,
} from "@modelcontextprotocol/server";
import type { Principal } from "../../contracts/ids.ts";
import type { McpAsking, McpDoor } from "../../contracts/mcp-door.ts";
import { fill, TRANSCRIPT } from "./addresses.ts";
import { type Changes, watchChanges } from "./changes.ts";
import type { McpDoorDeps } from "./deps.ts";
import { createLegacySessions } from "./legacy-sessions.ts";
import { makeServer } from "./make-server.ts";
import { createRunningCalls } from "./running-calls.ts";

/** Of one person: streams that wait for changes. */
const MAX_SUBSCRIPTIONS = 64;

/** One principal: nobody hears of what another one does. */
interface Person {
  readonly modern: McpHttpHandler;
  /** As the first request said: what a credential may see does not change. */
  readonly asking: McpAsking;
}

export function createServing(deps: McpDoorDeps): McpDoor {
  const { log } = deps;
  const calls = createRunningCalls(deps.clock);
  const people = new Map<Principal, Person>();
  const legacy = createLegacySessions(deps, (asking, subscribed) =>
    makeServer(deps, calls, { asking, subscribed, era: "legacy" }),
  );
  const changes = watchChanges({ ...deps, gate: deps.tools.gate }, (news) => {
    for (const person of people.values()) tellPerson(person, news);
    legacy.tell(news);
  });
  const heeded = new WeakSet<AbortSignal>();
  /** The operator may come with a token and with a sign-in: the end of either ends what they have here. */
  const heed = ({ caller, ending }: McpAsking): void => {
    if (heeded.has(ending)) return;
    heeded.add(ending);
    ending.addEventListener("abort", () => void forget(caller.principal), { once: true });
  };
  const personOf = (asking: McpAsking): Person => {
    const { principal } = asking.caller;
    heed(asking);
    const known = people.get(principal);
    if (known) return known;
    const person = { asking, modern: modernHandler(deps, calls, asking) };
    people.set(principal, person);
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
      log.error("connections of an MCP client not closed", { error });
    }
  };
  return {
    async answer(request, asking) {
      const person = personOf(asking);
      if (await isLegacyRequest(request)) return legacy.answer(request, asking);
      return person.modern.fetch(request, { authInfo: authInfoOf(asking) });
    },
    async [Symbol.asyncDispose]() {
      changes[Symbol.dispose]();
      calls[Symbol.dispose]();
      await Promise.all([...people.keys()].map(forget));
    },
  };
}

function modernHandler(
  deps: McpDoorDeps,
  calls: ReturnType<typeof createRunningCalls>,
  first: McpAsking,
): McpHttpHandler {
  return createMcpHandler(
    ({ authInfo }) =>
      makeServer(deps, calls, { asking: askingIn(authInfo, first), subscribed: new Set(), era: "modern" }),
    {
      legacy: "reject",
      bus: new InMemoryServerEventBus(),
      maxSubscriptions: MAX_SUBSCRIPTIONS,
      onerror: (error) => deps.log.debug("request of an MCP client refused", { error }),
    },
  );
}

/** A stream gets what it has asked for; the library looks at that. */
function tellPerson({ modern, asking }: Person, { tools, resources, prompts, sessions }: Changes): void {
  if (tools) modern.notify.toolsChanged();
  if (resources) modern.notify.resourcesChanged();
  if (prompts) modern.notify.promptsChanged();
  for (const key of sessions) if (asking.sees(key)) modern.notify.resourceUpdated(fill(TRANSCRIPT, { key }));
}

/** The library hands these on to what makes the server of one request; it looks at none of it. */
function authInfoOf(asking: McpAsking) {
  return { token: "", clientId: asking.caller.principal, scopes: [], extra: { asking } };
}

function askingIn(authInfo: { readonly extra?: Record<string, unknown> } | undefined, first: McpAsking): McpAsking {
  const asking = authInfo?.extra?.["asking"];
  return asking === undefined ? first : (asking as McpAsking); // put there by authInfoOf
}
