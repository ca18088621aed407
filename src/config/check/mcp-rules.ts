/** Rules about MCP servers: each is a program or an address, and settings of the other kind do not stand beside it. */
import type { McpServerSettings } from "../sections/mcp.ts";
import { problem, type RuleInput, type RuleProblem } from "./rule.ts";

export function* mcpServerRules({ config }: RuleInput): Generator<RuleProblem> {
  for (const [name, server] of Object.entries(config.mcp.servers)) yield* serverRule(`mcp.servers.${name}`, server);
}

function* serverRule(path: string, server: McpServerSettings): Generator<RuleProblem> {
  const { command, url } = server;
  if ((command === undefined) === (url === undefined)) {
    yield problem(path, `${path} must have exactly one of command and url.`);
    return;
  }
  const foreign = command === undefined ? programSettings(server) : addressSettings(server);
  const kind = command === undefined ? "url" : "command";
  const [first] = foreign;
  if (first !== undefined)
    yield problem(`${path}.${first}`, `${path}.${first} has no effect beside ${kind}. Remove it.`);
  const { authorization } = Object.fromEntries(Object.keys(server.headers).map((key) => [key.toLowerCase(), true]));
  if (server.oauth !== undefined && authorization === true)
    yield problem(`${path}.oauth`, `${path} has both oauth and a header Authorization. Keep one of them.`);
}

function programSettings({ args, env, folders, network }: McpServerSettings): readonly string[] {
  return [
    ...(args.length > 0 ? ["args"] : []),
    ...(Object.keys(env).length > 0 ? ["env"] : []),
    ...(folders.length > 0 ? ["folders"] : []),
    ...(network === "none" ? [] : ["network"]),
  ];
}

function addressSettings({ headers, oauth }: McpServerSettings): readonly string[] {
  return [...(Object.keys(headers).length > 0 ? ["headers"] : []), ...(oauth === undefined ? [] : ["oauth"])];
}
