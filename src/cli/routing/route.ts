/** `pi-gw route`: where a message would go, from the configuration alone. Sends nothing and needs no running gateway. */
import { GatewayError } from "../../contracts/errors.ts";
import type { Principal } from "../../contracts/ids.ts";
import { visible } from "../../observe/index.ts";
import { type ConfigFlags, configOfFile } from "../config-command.ts";
import { EXIT_OK } from "../exit-code.ts";
import type { RouteFacts } from "../../contracts/routing.ts";
import type { Explanation } from "../../routing/index.ts";
import type { CliWorld } from "../world.ts";

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

export async function route(world: CliWorld, flags: RouteFlags): Promise<number> {
  const { accessDoors, explainRoute } = await import("../../routing/index.ts");
  const config = await configOfFile(world, flags);
  // who was let in by a code is known to a running gateway only
  const doors = accessDoors(
    () => config.channels,
    () => false,
  );
  const explained = explainRoute(config, factsOf(flags), doors);
  if (flags.json) world.stdout(`${JSON.stringify(asJson(explained, flags.explain === true))}\n`);
  else for (const line of lines(explained, flags.explain === true)) world.stdout(`${visible(line)}\n`);
  return EXIT_OK;
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

function asJson({ verdict, considered }: Explanation, explain: boolean): object {
  if (verdict.kind === "refuse") return { accepted: false, because: verdict.because, say: verdict.say };
  const { agentId: agent, sessionKey, role, priority, because } = verdict;
  return { accepted: true, agent, sessionKey, role, priority, ...(explain ? { because, bindings: considered } : {}) };
}

function lines({ verdict, considered }: Explanation, explain: boolean): readonly string[] {
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
