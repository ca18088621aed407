/**
 * What MCP servers cost the gateway's own process: 100 tools over 5 programs that all run, against the same gateway without them. Their own
 * processes are not counted: they are the servers' affair.
 */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { McpServerStatus } from "../../src/contracts/mcp.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { rssMb } from "./parts/process-cost.ts";
import { median, round } from "./parts/stats.ts";

const SERVERS = 5;
const TOOLS_EACH = 20;
const MOST_MB = 10;
/** Afterwards, in which the runtime gives back what the work has left behind. */
const REST_MS = 5_000;
const LOOK_MS = 1_000;
const MAX_LOOKS = 30;

/** Speaks the protocol of 2025-11-25, as most servers there are. */
const SERVER = `
  import { createInterface } from "node:readline";
  const tools = Array.from({ length: ${TOOLS_EACH} }, (_, n) => ({
    name: "tool_" + n,
    description: "Does the thing number " + n + " for whoever asks, and says how it went. ".repeat(4),
    inputSchema: { type: "object", properties: { path: { type: "string", description: "Where." }, count: { type: "integer" } }, required: ["path"] },
    annotations: { readOnlyHint: true },
  }));
  const results = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "bench", version: "1" } },
    "tools/list": { tools },
    "tools/call": { content: [{ type: "text", text: "done" }] },
  };
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: "unknown method" } };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });`;

async function rssOf(servers: number): Promise<{ readonly gateway: number; readonly host: number }> {
  await using home = await tempHome();
  await using folder = await tempHome();
  const script = join(folder.path, "server.mjs");
  await writeFile(script, SERVER);
  const one = { command: "node", args: [script] };
  const named = Object.fromEntries(Array.from({ length: servers }, (_, at) => [`bench-${at}`, one]));
  await using gateway = await startGatewayProcess({
    home: home.path,
    config: { agent: { pool: { min: 0 } }, mcp: { servers: named } },
  });
  await learnt(gateway);
  // the same work for both: the list of tools, and five calls
  await (await gateway.fetch("/api/tools")).text();
  for (let at = 0; at < SERVERS; at++)
    await (servers > 0 ? call(gateway, `mcp_bench-${at}_tool_1`, { path: "/" }) : call(gateway, "list_tasks", {}));
  await Bun.sleep(REST_MS);
  const states = (await serversOf(gateway)).map(({ state }) => state);
  if (states.some((state) => state !== "running")) throw new Error(`a server does not run: ${states.join(", ")}`);
  return { gateway: rssMb(gateway.pid), host: servers > 0 ? rssMb(hostOf(gateway.pid)) : 0 };
}

/** The process that holds the library of MCP. */
function hostOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  const host = children.find((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("mcp-host"));
  if (host === undefined) throw new Error("there is no MCP host");
  return host;
}

/** Looks seldom: hundreds of answers would be counted with what the servers cost. */
async function learnt(gateway: GatewayProcess): Promise<void> {
  for (let look = 0; look < MAX_LOOKS; look++) {
    await Bun.sleep(LOOK_MS);
    if ((await serversOf(gateway)).every(({ tools }) => tools.length === TOOLS_EACH)) return;
  }
  throw new Error("the tools were not learnt in time");
}

async function serversOf(gateway: GatewayProcess): Promise<readonly McpServerStatus[]> {
  return ((await (await gateway.fetch("/api/mcp")).json()) as { items: McpServerStatus[] }).items;
}

async function call(gateway: GatewayProcess, tool: string, params: object): Promise<void> {
  const body = JSON.stringify({ tool, params });
  const headers = { "content-type": "application/json" };
  const response = await gateway.fetch("/api/tools/call", { method: "POST", headers, body });
  if (!response.ok) throw new Error(await response.text());
}

export const mcpServers: Scenario = {
  name: "mcp-servers",
  async measure(scale) {
    const rounds = Math.max(1, Math.round(3 * scale));
    const without: number[] = [];
    const having: number[] = [];
    const hosts: number[] = [];
    for (let at = 0; at < rounds; at++) {
      without.push((await rssOf(0)).gateway);
      const { gateway, host } = await rssOf(SERVERS);
      having.push(gateway);
      hosts.push(host);
    }
    const more = round(median(having) - median(without));
    const what = `${SERVERS * TOOLS_EACH} MCP tools over ${SERVERS} programs: memory of the gateway`;
    return [
      { what: "memory of the gateway without MCP servers", value: median(without), unit: "MB" },
      { what: `${what}, more than without`, value: more, unit: "MB", ...atMost(MOST_MB) },
      { what: "memory of the MCP host, which ends with the last server", value: median(hosts), unit: "MB" },
    ];
  },
};
