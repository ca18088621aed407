import { describe, expect, test } from "bun:test";
import type { AgentId } from "../contracts/ids.ts";
import type { ToolListing, ToolOrigin } from "../contracts/tools/tool.ts";
import { policy } from "../testing/tools/tool-world.ts";
import { originOf } from "./origin.ts";
import { callerFrom, createPermissionMatrix } from "./permissions.ts";
import { mayUse, type ToolPolicy } from "./policy.ts";

const PAPERS = "papers" as AgentId;

const listing = (name: string, more: Partial<ToolListing> = {}): ToolListing => ({
  name,
  label: name,
  description: "x",
  parameters: {},
  plugin: "gateway",
  limit: null,
  status: "ok",
  flags: { idempotent: true },
  ...more,
});

function matrix(rules: Partial<ToolPolicy>, tools: readonly ToolListing[]) {
  const registry = { list: () => tools, has: (name: string) => tools.some((tool) => tool.name === name) };
  const rows = createPermissionMatrix({ registry, policy: () => policy(rules) })(PAPERS);
  return (tool: string, role: string, origin: ToolOrigin) => {
    const cell = rows.find((row) => row.tool === tool)?.cells.find((one) => one.role === role && one.origin === origin);
    return `${cell?.may}: ${cell?.because}`;
  };
}

describe("the matrix of permissions", () => {
  test("says for every tool, role and origin what a call of it would meet, and why", () => {
    const at = matrix(
      {
        profile: (_agent, role) => (role === "owner" ? "full" : "chat"),
        deny: ["drop"],
        approvals: { ask: ["send"], never: [] },
        origins: { cron: { deny: ["send"] } },
        roles: { guest: { allow: ["note"] } },
      },
      [
        listing("note"),
        listing("send"),
        listing("drop"),
        listing("broken", { status: "quarantined", reason: "its schema is wrong" }),
        listing("reboot", { flags: { idempotent: false, ownerOnly: true } }),
      ],
    );
    expect(at("note", "guest", "chat")).toBe("yes: the lists allow it");
    expect(at("send", "owner", "chat")).toBe("ask: tools.approvals.ask names it");
    expect(at("send", "owner", "cron")).toBe("no: tools.origins.cron.deny names it");
    expect(at("send", "guest", "chat")).toBe("no: tools.roles.guest.allow does not name it");
    expect(at("drop", "owner", "chat")).toBe("no: tools.deny names it");
    expect(at("broken", "owner", "chat")).toBe("no: its schema is wrong");
    expect(at("reboot", "member", "chat")).toBe("no: only owners may use it");
    expect(at("reboot", "owner", "group")).toStartWith("no: it is for owners");
    expect(at("bash", "owner", "chat")).toStartWith("ask: it may do anything");
    expect(at("bash", "member", "chat")).toBe("no: this agent has no such tool");
    expect(at("read", "owner", "api")).toBe("no: it works in the workspace of an agent, and no agent is calling");
    expect(at("write", "owner", "chat")).toBe("yes: the lists allow it");
  });

  test("asks the function that judges calls, for somebody whose call really begins there", () => {
    const tool = listing("note", { flags: { idempotent: true, ownerOnly: true } });
    const at = matrix({}, [tool]);
    for (const role of ["owner", "member", "guest"] as const)
      for (const origin of ["chat", "group", "cron", "heartbeat", "webhook", "delegate", "api", "mcp"] as const) {
        const { caller } = callerFrom(PAPERS, role, origin);
        expect(originOf(caller)).toBe(origin);
        const { may, because } = mayUse({ name: "note", flags: tool.flags }, caller, policy({}));
        expect(at("note", role, origin)).toBe(`${may ? "yes" : "no"}: ${because}`);
      }
  });
});
