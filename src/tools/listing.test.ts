import { describe, expect, test } from "bun:test";
import type { AgentId } from "../contracts/ids.ts";
import type { ToolListing } from "../contracts/tools/tool.ts";
import { policy } from "../testing/tools/tool-world.ts";
import { createToolLister } from "./listing.ts";
import type { ToolPolicy } from "./policy.ts";

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

function listed(rules: Partial<ToolPolicy>, tools: readonly ToolListing[] = []) {
  return createToolLister({
    registry: { list: () => tools, has: (name) => tools.some((tool) => tool.name === name) },
    policy: () => policy(rules),
    agents: () => ["default", "papers"] as AgentId[],
  });
}

const users = ({ usableBy }: { readonly usableBy: readonly { agent: string; roles: readonly string[] }[] }) =>
  usableBy.map(({ agent, roles }) => `${agent}: ${roles.join(" ")}`);

describe("the list of tools", () => {
  test("shows every tool of pi, and nobody who may use it while no agent is given any", () => {
    const shown = listed({ profile: () => "chat" })().piTools;
    expect(shown.map(({ name }) => name)).toEqual(["read", "write", "edit", "grep", "find", "ls", "bash"]);
    expect(shown.flatMap(users)).toEqual([]);
  });

  test("shows the tools of extensions that the tools of an agent name, after pi's own", () => {
    const profile: ToolPolicy["profile"] = (agent) => (agent === "papers" ? ["read", "find_papers"] : "chat");
    const shown = listed({ profile })().piTools.at(-1);
    expect(shown).toMatchObject({ name: "find_papers", description: "A tool of an extension of pi." });
    expect(users(shown ?? { usableBy: [] })).toEqual(["papers: owner"]);
  });

  test("says for each tool of pi which roles may use it with which agent, and that a shell waits for an owner", () => {
    const profile: ToolPolicy["profile"] = (agent, role) =>
      role === "owner" ? (agent === "papers" ? "full" : "files") : "chat";
    const by = new Map(listed({ profile, deny: ["write"] })().piTools.map((tool) => [tool.name, tool]));
    expect(by.get("read")).toMatchObject({ asks: null });
    expect(users(by.get("read") ?? { usableBy: [] })).toEqual(["default: owner", "papers: owner"]);
    expect(users(by.get("bash") ?? { usableBy: [] })).toEqual(["papers: owner"]);
    expect(by.get("bash")?.asks).toBe("it may do anything the gateway's user may");
    expect(by.get("write")?.usableBy).toEqual([]);
  });

  test("says of a shell in the sandbox that nobody is asked, unless another agent has one that is asked for", () => {
    const bashWith = (papers: "full" | "workspace") => {
      const profile: ToolPolicy["profile"] = (agent) => (agent === "papers" ? papers : "workspace");
      return listed({ profile })().piTools.find(({ name }) => name === "bash")?.asks;
    };
    expect([bashWith("workspace"), bashWith("full")]).toEqual([null, "it may do anything the gateway's user may"]);
  });

  test("says of a shell that waits for an owner how far it reaches, which a tool inside of the gateway exceeds", () => {
    const elevated = listing("reboot", { flags: { idempotent: true, elevated: true } });
    const { tools, piTools } = listed({ profile: () => "full", confined: true }, [elevated])();
    expect(piTools.find(({ name }) => name === "bash")?.asks).toBe("it may do anything the sandbox lets through");
    expect(tools[0]?.asks).toBe("it may do anything the gateway's user may");
  });

  test("shows a tool of an extension that the tools of an agent name, and no name twice", () => {
    const profile: ToolPolicy["profile"] = (agent) => (agent === "papers" ? ["lookup", "notes"] : "chat");
    const shown = listed({ profile }, [listing("notes")])().piTools;
    expect(shown.map(({ name }) => name).slice(7)).toEqual(["lookup"]);
    expect(shown.at(-1)).toMatchObject({
      flags: { elevated: true },
      usableBy: [{ agent: "papers", roles: ["owner"] }],
    });
  });

  test("says for each tool of the gateway who may use it, by lists, flags and roles", () => {
    const tools = [
      listing("everybody"),
      listing("owners", { flags: { idempotent: true, ownerOnly: true } }),
      listing("denied"),
      listing("elsewhere", { origins: ["cron"] }),
      listing("quarantined", { status: "quarantined" }),
      listing("asking", { approval: true }),
    ];
    const rules = { deny: ["denied"], roles: { guest: { allow: ["everybody"] } }, profile: () => "chat" as const };
    const shown = listed(rules, tools)().tools;
    expect(shown.map((tool) => [tool.name, users(tool)[0] ?? null])).toEqual([
      ["everybody", "default: owner member guest"],
      ["owners", "default: owner"],
      ["denied", null],
      ["elsewhere", null],
      ["quarantined", null],
      ["asking", "default: owner member"],
    ]);
    expect(shown.at(-1)?.asks).toBe("the tool always asks");
  });

  test("says which tools a person's agent finds by tool_search alone, for each agent and role", () => {
    const search = listing("tool_search");
    const brought = ["a", "b", "c"].map((name) => listing(name, { plugin: "letters" }));
    const rules = { searchAbove: 2, roles: { member: { deny: ["a"] }, guest: { deny: ["tool_search"] } } };
    const tools = listed(rules, [search, ...brought])().tools;
    const behind = ({ behindSearch }: (typeof tools)[number]) => users({ usableBy: behindSearch });
    expect(tools.map((tool) => [tool.name, behind(tool)])).toEqual([
      ["tool_search", []],
      ["a", ["default: owner", "papers: owner"]],
      ["b", ["default: owner", "papers: owner"]],
      ["c", ["default: owner", "papers: owner"]],
    ]);
    expect(listed({ searchAbove: 3 }, [search, ...brought])().tools.flatMap(behind)).toEqual([]);
  });
});
