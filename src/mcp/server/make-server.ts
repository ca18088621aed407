/** The server of one caller, with the methods that its credential opens. What is not open is not declared, and answered as unknown. */
import { createRequestStateCodec, Server, type ServerCapabilities } from "@modelcontextprotocol/server";
import type { McpAsking } from "../../contracts/mcp-door.ts";
import type { McpDoorDeps } from "./deps.ts";
import { opens } from "./families.ts";
import { serveCompletions, servePrompts } from "./prompt-methods.ts";
import { serveResources, type Subscribed } from "./resource-methods.ts";
import type { RoundDeps, RoundState } from "./rounds.ts";
import type { RunningCalls } from "./running-calls.ts";
import { serveTools } from "./tool-methods.ts";

/** For the model behind the client. */
const INSTRUCTIONS =
  "Tools, notes, files and conversations of a pi-gateway. ask_agent talks to an assistant that remembers its conversations and has tools of its own. A call may wait until the owner of the gateway has approved it.";

/** Longer than a call waits for its client. */
const STATE_SECONDS = 12 * 60;
const MAX_ROUNDS = 32;

interface ServerFacts {
  readonly asking: McpAsking;
  readonly era: RoundDeps["era"];
  /** Filled by the client. */
  readonly subscribed: Subscribed;
}

export function makeServer(deps: McpDoorDeps, calls: RunningCalls, { asking, era, subscribed }: ServerFacts): Server {
  const { principal } = asking.caller;
  const codec = createRequestStateCodec<RoundState>({
    key: deps.stateKey,
    ttlSeconds: STATE_SECONDS,
    bind: ({ mcpReq }) => `${principal}\n${mcpReq.method}`,
  });
  const server = new Server(
    { name: "pi-gateway", title: "pi-gateway", version: deps.version },
    {
      capabilities: capabilitiesOf(asking),
      instructions: INSTRUCTIONS,
      requestState: { verify: codec.verify },
      inputRequired: { maxRounds: MAX_ROUNDS },
    },
  );
  const { clock, ids, log, events, surface, mask } = deps;
  const { approvals, questions } = deps.tools;
  const rounds: RoundDeps = { ids, log, events, approvals, questions, calls, codec, era };
  const resources = { ...deps.resources, clock, surface, mask };
  const prompts = { ...deps.prompts, clock, surface, mask };
  const [hasResources, hasPrompts] = [opens(asking.key, "resources"), opens(asking.key, "prompts")];
  if (opens(asking.key, "tools")) serveTools(deps, rounds, server, asking);
  if (hasResources) serveResources(resources, server, asking, subscribed);
  if (hasPrompts) servePrompts(prompts, rounds, server, asking);
  if (hasPrompts && hasResources) serveCompletions({ prompts, resources }, server, asking);
  return server;
}

function capabilitiesOf({ key }: McpAsking): ServerCapabilities {
  const [resources, prompts] = [opens(key, "resources"), opens(key, "prompts")];
  return {
    ...(opens(key, "tools") ? { tools: { listChanged: true } } : {}),
    ...(resources ? { resources: { listChanged: true, subscribe: true } } : {}),
    ...(prompts ? { prompts: { listChanged: true } } : {}),
    ...(resources && prompts ? { completions: {} } : {}),
  };
}
