/** `pi-gw route`: where a message would go. Asks the running gateway, reads the configuration when there is none, and says which of both. Sends nothing. */
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import type { AgentId, Principal, Role, SessionKey } from "../contracts/ids.ts";
import { visible } from "../observe/index.ts";
import { type ConfigFlags, configOfFile } from "./config-command.ts";
import { EXIT_OK } from "./exit-code.ts";
import type { RouteFacts } from "../contracts/routing.ts";
import type { Explanation } from "../routing/index.ts";
import { createClient } from "./client.ts";
import { findGateway } from "./state-directory.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import type { CliWorld } from "./world.ts";

export interface RouteFlags extends ConfigFlags {
  readonly explain?: boolean;
  readonly channel: string;
  readonly account: string;
  readonly chat?: string;
  readonly thread?: string;
  readonly peer: string;
  readonly scope: "dm" | "group";
  readonly mentioned?: boolean;
}

/** Whose answer it is. */
interface Source {
  readonly kind: "gateway" | "file";
  readonly say: string;
}

type Explained = Pick<Explanation, "verdict" | "considered">;

const ASK_GATEWAY_MS = 3_000;

export async function route(world: CliWorld, flags: RouteFlags): Promise<number> {
  const facts = factsOf(flags);
  const { source, explained } = (await fromGateway(world, flags, facts)) ?? (await fromFile(world, flags, facts));
  const explain = flags.explain === true;
  if (flags.json) world.stdout(`${JSON.stringify({ source: source.kind, ...asJson(explained, explain) })}\n`);
  else for (const line of [`from      ${source.say}`, ...lines(explained, explain)]) world.stdout(`${visible(line)}\n`);
  return EXIT_OK;
}

/** Null when none runs, or when a file was named: then that one is meant. */
async function fromGateway(world: CliWorld, flags: RouteFlags, facts: RouteFacts) {
  if (flags.config !== undefined) return null;
  const gateway = await findGateway(world, flags.home).catch(() => null); // none has left its note
  if (gateway === null) return null;
  using limit = world.clock.deadline(ASK_GATEWAY_MS, () => new Error("It did not answer within three seconds."));
  const { address, scope, sender, mentioned } = facts;
  const asked = { ...address, peer: sender.principal, scope, mentioned };
  try {
    const answer = await createClient(gateway).ask({ method: "POST", path: "/api/route", body: asked }, limit.signal);
    const source: Source = { kind: "gateway", say: `the running gateway at ${gateway.url}` };
    return { source, explained: explainedIn(answer) };
  } catch (error) {
    if (isGatewayError(error) && error.code !== "not_found") throw error; // it runs, and says no
    return null;
  }
}

async function fromFile(world: CliWorld, flags: RouteFlags, facts: RouteFacts) {
  const { createAccessPolicies, explainRoute } = await import("../routing/index.ts");
  const config = await configOfFile(world, flags);
  // who got access by a code is known to a running gateway only
  const policies = createAccessPolicies(
    () => config.channels,
    () => false,
  );
  const which = flags.config === undefined ? "the configuration file, because no gateway answers here" : flags.config;
  const say = `${which}; who got access by a code, and roles given in chats, are not known there`;
  const source: Source = { kind: "file", say };
  return { source, explained: explainRoute(config, facts, policies) };
}

/** What the gateway answers has the shape of its own decision; what is missing becomes empty. */
function explainedIn(answer: Fields): Explained {
  const verdict = recordOf(answer["verdict"]);
  const because = verdict["because"];
  const considered = listOf(answer["considered"])
    .map(recordOf)
    .map((one) => ({
      index: numberOf(one["index"]),
      agent: textOf(one["agent"]),
      wins: one["wins"] === true,
      because: textOf(one["because"]),
    })) as unknown as Explained["considered"];
  if (verdict["kind"] !== "accept") {
    const tell = verdict["tell"] === "nothing" ? "nothing" : "refusal";
    return { verdict: { kind: "refuse", because: textOf(because), tell, say: textOf(verdict["say"]) }, considered };
  }
  const found = {
    sessionKey: textOf(verdict["sessionKey"]) as SessionKey,
    agentId: textOf(verdict["agentId"]) as AgentId,
    role: textOf(verdict["role"]) as Role,
    priority: numberOf(verdict["priority"]),
  };
  return { verdict: { kind: "accept", ...found, because: listOf(because).map(textOf) }, considered };
}

function factsOf(flags: RouteFlags): RouteFacts {
  const { channel, account, thread, peer, scope } = flags;
  if (scope === "group" && flags.chat === undefined) {
    throw new GatewayError("invalid_params", "a group without a chat", { say: "Name the group with --chat." });
  }
  // A direct message is in the chat that has its sender's number.
  const chat = flags.chat ?? peer.slice(peer.lastIndexOf(":") + 1);
  return {
    address: { channel, account, chat, ...(thread === undefined ? {} : { thread }) },
    scope,
    sender: { principal: peer as Principal, name: "" },
    mentioned: flags.mentioned === true || scope === "dm",
  };
}

function asJson({ verdict, considered }: Explained, explain: boolean): object {
  if (verdict.kind === "refuse") return { accepted: false, because: verdict.because, say: verdict.say };
  const { agentId: agent, sessionKey, role, priority, because } = verdict;
  return { accepted: true, agent, sessionKey, role, priority, ...(explain ? { because, bindings: considered } : {}) };
}

function lines({ verdict, considered }: Explained, explain: boolean): readonly string[] {
  if (verdict.kind === "refuse") {
    const heard = verdict.tell === "nothing" ? "The sender gets no answer." : "The sender is told so.";
    return [`refused   ${verdict.because}: ${verdict.say} ${heard}`];
  }
  const { agentId, sessionKey, role, priority, because } = verdict;
  const found = [`agent     ${agentId}`, `session   ${sessionKey}`, `role      ${role}`, `priority  ${priority}`];
  if (!explain) return found;
  const rules = considered.map(
    ({ index, agent, wins, because: why }) => `${wins ? "wins" : "loses"} bindings[${index}] → ${agent}: ${why}`,
  );
  return [...found, ...because.map((why) => `because   ${why}`), ...rules.map((rule) => `rule      ${rule}`)];
}
