/** What the running gateway says of itself: version, model, agents, sandbox, queue, configuration, servers and plugins. */
import type { GatewayStatus } from "../../../src/contracts/wire.ts";
import { duration } from "../../net/error-text.ts";
import { type Fact, FactList } from "../parts/fact-list.tsx";

export function GatewayFacts({ status }: { readonly status: GatewayStatus }) {
  return <FactList facts={factsOf(status)} />;
}

function factsOf(status: GatewayStatus): readonly Fact[] {
  const { version, uptimeMs, node, model, pool, queue, outbox, config, mcp, plugins } = status;
  return [
    ["Version", version],
    ["Running for", duration(uptimeMs)],
    ["Node", node.name],
    ["Model", model.demo ? "demo model" : (model.name ?? "not known before the first agent has started")],
    ["Agent processes", `${pool.busy} busy, ${pool.idle} idle, at most ${pool.max}`],
    ["Messages", `${queue.waiting} waiting, ${queue.running} being answered`],
    ["Replies", `${outbox.pending} on their way`],
    sandboxFact(status),
    ["Configuration", `${config.file ?? "defaults"}${config.applied ? "" : ", as it is on the disk, is not in force"}`],
    ["MCP servers", mcp.length === 0 ? "none" : mcp.map(({ name, state }) => `${name} (${state})`).join(", ")],
    ["Plugins", `${plugins.running} running${plugins.failed > 0 ? `, ${plugins.failed} failed` : ""}`],
  ];
}

/** What keeps the shell and the files of agents inside their folders. */
function sandboxFact({ sandbox: { setting, tier, because, leaks, advice } }: GatewayStatus): Fact {
  const value = setting === "off" ? "switched off (agent.sandbox)" : tier;
  return ["Sandbox", <span title={[because, ...leaks, advice ?? ""].join("\n")}>{value}</span>, "sandbox"];
}
