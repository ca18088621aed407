/** What a job is told about a tool before it runs is what the gate would say when it is called. */
import { expect, test } from "bun:test";
import type { Caller } from "../contracts/agent.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { Tool } from "../contracts/tools/tool.ts";
import { silentLog } from "../kit/log.ts";
import type { ToolPolicy } from "./policy.ts";
import { createToolRegistry } from "./registry.ts";
import { whyNotUsable } from "./usable.ts";

const tool = (name: string, flags: Partial<Tool["flags"]> = {}): Tool => ({
  name,
  label: name,
  description: name,
  timeoutMs: 1_000,
  flags: { idempotent: true, ...flags },
  parameters: { type: "object", properties: {}, additionalProperties: false },
  execute: async () => ({ content: [] }),
});
const caller = {
  sessionKey: "agent:default:cron:tea:run:check" as SessionKey,
  turnId: "t" as TurnId,
  role: "owner",
  agentId: "default" as AgentId,
  principal: "operator" as Principal,
  cause: "cron",
  origin: { channel: "webchat", account: "default", chat: "1" },
} as const satisfies Caller;
const POLICY: ToolPolicy = {
  allow: ["*"],
  deny: ["fax"],
  roles: {},
  principals: {},
  origins: { cron: { deny: ["paint"] } },
  agents: {},
  limits: {},
  approvals: { ask: [], never: [] },
  maxPerSession: 1,
  maxTotal: 1,
  searchAbove: 60,
  profile: () => "files" as const,
};

test.each<[string, string | null]>([
  ["search", null],
  ["fax", "tools.deny names it"],
  ["paint", "tools.origins.cron.deny names it"],
  ["keys", "it is for owners, and tools.origins.cron.allow does not name it"],
  ["gone", "this agent has no such tool"],
  ["read", null],
  ["bash", "this agent has no such tool"],
])("%s: %p", (name, expected) => {
  const registry = createToolRegistry({ log: silentLog });
  for (const one of [tool("search"), tool("fax"), tool("paint"), tool("keys", { ownerOnly: true })])
    registry.register(one, "gateway");
  expect(whyNotUsable({ registry, policy: () => POLICY }, name, caller)).toBe(expected);
});
