/**
 * Clients of revision 2025-11-25 and older: `initialize` opens a session, and the requests after it name it. A session belongs to the
 * credential that opened it, and ends with it, when its client says so, or when it has been idle for long and another one is opened.
 */
import { type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { Principal } from "../../contracts/ids.ts";
import type { McpAsking } from "../../contracts/mcp-door.ts";
import { background } from "../../kit/background.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { fill, TRANSCRIPT } from "./addresses.ts";
import type { Changes } from "./changes.ts";
import type { Subscribed } from "./resource-methods.ts";

interface LegacyDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

interface LegacySessions {
  answer(request: Request, asking: McpAsking): Promise<Response>;
  /** Tells each client what it may see. */
  tell(changes: Changes): void;
  /** Closes the sessions of this person. */
  end(principal: Principal): Promise<void>;
}

interface Entry {
  readonly principal: Principal;
  readonly server: Server;
  readonly asking: McpAsking;
  readonly subscribed: Subscribed;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAt: number;
}

const SESSION_BYTES = 32;
const SESSION_HEADER = "mcp-session-id";
const MAX_SESSIONS = 50; // of one person
const IDLE_MS = 30 * 60_000;
const NOT_FOUND = -32_001; // as the library says it: clients begin anew

export function createLegacySessions(
  deps: LegacyDeps,
  makeServer: (asking: McpAsking, subscribed: Subscribed) => Server,
): LegacySessions {
  const sessions = new Map<string, Entry>();
  const close = async (id: string): Promise<void> => {
    const entry = sessions.get(id);
    sessions.delete(id);
    await entry?.server.close();
  };
  const idsOf = (principal: Principal): readonly string[] =>
    [...sessions].flatMap(([id, entry]) => (entry.principal === principal ? [id] : []));
  /** Those of long ago, and the longest unused one when there are too many. */
  const makeRoom = async (principal: Principal): Promise<void> => {
    const before = deps.clock.elapsed() - IDLE_MS;
    const theirs = idsOf(principal).toSorted((one, other) => used(one) - used(other));
    const old = theirs.filter((id, at) => used(id) < before || at <= theirs.length - MAX_SESSIONS);
    await Promise.all(old.map(close));
  };
  const used = (id: string): number => sessions.get(id)?.usedAt ?? 0;
  const begin = async (request: Request, asking: McpAsking): Promise<Response> => {
    const { principal } = asking.caller;
    const subscribed: Subscribed = new Set();
    const server = makeServer(asking, subscribed);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => deps.ids.secret(SESSION_BYTES),
      onsessioninitialized(id) {
        sessions.set(id, { principal, server, asking, subscribed, transport, usedAt: deps.clock.elapsed() });
      },
      onsessionclosed: close,
    });
    await makeRoom(principal);
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    if (transport.sessionId === undefined) await server.close(); // it was no handshake, and was refused
    return response;
  };
  return {
    async answer(request, asking) {
      const id = request.headers.get(SESSION_HEADER);
      if (id === null) return begin(request, asking);
      const entry = sessions.get(id);
      if (entry?.principal !== asking.caller.principal) return unknownSession();
      entry.usedAt = deps.clock.elapsed();
      return entry.transport.handleRequest(request);
    },
    tell(changes) {
      for (const entry of sessions.values())
        background(deps.log, "changes not told to an MCP client", () => tellChanges(entry, changes));
    },
    async end(principal) {
      await Promise.all(idsOf(principal).map(close));
    },
  };
}

/** What a server has not declared it does not tell. */
async function tellChanges({ server, asking, subscribed }: Entry, changes: Changes): Promise<void> {
  const declared = server.getCapabilities();
  if (changes.tools && declared.tools) await server.sendToolListChanged();
  if (changes.resources && declared.resources) await server.sendResourceListChanged();
  if (changes.prompts && declared.prompts) await server.sendPromptListChanged();
  for (const key of changes.sessions) {
    const uri = fill(TRANSCRIPT, { key });
    if (subscribed.has(uri) && asking.sees(key)) await server.sendResourceUpdated({ uri });
  }
}

function unknownSession(): Response {
  const error = { code: NOT_FOUND, message: "Session not found. Begin a new one with initialize." };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}
