/** Where messages go: role, agent and session together. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AgentId, Principal } from "../contracts/ids.ts";
import type { RouteFacts } from "../contracts/routing.ts";
import { routingConfig } from "../testing/routing-config.ts";
import { inbound } from "../testing/messages.ts";
import { CLOSED_POLICY } from "./access.ts";
import { chooseSession } from "./named-session.ts";
import { type AccessPolicies, createRouter, explainRoute, type RoutingConfig } from "./router.ts";

type DmScope = RoutingConfig["session"]["dmScope"];
const SCOPES: readonly DmScope[] = ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"];
const roles = { owners: ["telegram:user:1"], members: ["telegram:user:2", "discord:user:2"] };
const open: AccessPolicies = {
  policyOf: () => ({ ...CLOSED_POLICY, dm: "open", allowFrom: ["*"], group: "open", requireMention: false }),
  isPaired: () => false,
};
const from = (principal: string, address: Partial<RouteFacts["address"]> = {}, rest: Partial<RouteFacts> = {}) =>
  inbound("hello", {
    address: { channel: "telegram", account: "a", chat: principal.split(":").at(-1) ?? "", ...address },
    sender: { principal: principal as Principal, name: "telegram:user:1" },
    ...rest,
  });
const decide = (config: Partial<RoutingConfig>, message: ReturnType<typeof from>, policies?: AccessPolicies) =>
  createRouter(() => routingConfig({ roles, ...config }), policies).decide(message);
const keyOf = (config: Partial<RoutingConfig>, message: ReturnType<typeof from>, policies: AccessPolicies = open) => {
  const verdict = decide(config, message, policies);
  return verdict.kind === "accept" ? String(verdict.sessionKey) : verdict.because;
};
const session = (dmScope: DmScope, identityLinks: Record<string, string[]> = {}) => ({
  session: { dmScope, identityLinks },
});

describe("a direct message", () => {
  test("of a guest is not in the main session, where guests could stop, reset and list what is the owner's", () => {
    for (const [who, key] of [
      ["telegram:user:1", "agent:default:main"],
      ["telegram:user:2", "agent:default:main"],
      ["telegram:user:9", "agent:default:telegram:dm:9"],
    ] as const)
      expect(keyOf(session("main"), from(who))).toBe(key);
  });

  test("belongs to the person, also where the direct chat has an id of its own", () => {
    const discord = from("discord:user:2", { channel: "discord", chat: "998877" });
    expect(keyOf(session("per-channel-peer"), discord)).toBe("agent:default:discord:dm:2");
    expect(keyOf(session("per-account-channel-peer"), discord)).toBe("agent:default:discord:a:dm:2");
  });

  test.each([
    ["main", "agent:default:main"],
    ["per-peer", "agent:default:dm:telegram%3Auser%3A2"],
    ["per-channel-peer", "agent:default:telegram:dm:2"],
    ["per-account-channel-peer", "agent:default:telegram:a:dm:2"],
  ] as const)("with dmScope %s belongs to %s", (scope, key) => {
    expect(keyOf(session(scope), from("telegram:user:2"))).toBe(key);
  });

  test.each([
    ["main", "agent:default:main", "agent:default:main"],
    ["per-peer", "agent:default:dm:@bo", "agent:default:dm:@bo"],
    ["per-channel-peer", "agent:default:telegram:dm:@bo", "agent:default:discord:dm:@bo"],
    ["per-account-channel-peer", "agent:default:telegram:a:dm:@bo", "agent:default:discord:a:dm:@bo"],
  ] as const)("of a linked person with dmScope %s belongs to %s and %s", (scope, telegram, discord) => {
    const config = session(scope, { bo: ["telegram:user:2", "discord:user:2"] });
    expect(keyOf(config, from("telegram:user:2"))).toBe(telegram);
    expect(keyOf(config, from("discord:user:2", { channel: "discord" }))).toBe(discord);
  });

  test("on the page or the API belongs to the conversation that was chosen, whatever the scope", () => {
    for (const scope of SCOPES) {
      expect(keyOf(session(scope), from("operator", { channel: "webchat", chat: "c1" }))).toBe(
        "agent:default:webchat:dm:c1",
      );
    }
  });
});

test("a group is one conversation, and each of its threads another", () => {
  const group = { scope: "group" } as const;
  expect(keyOf({}, from("telegram:user:2", { chat: "-5" }, group))).toBe("agent:default:telegram:group:-5");
  expect(keyOf(session("main"), from("telegram:user:9", { chat: "-5", thread: "3" }, group))).toBe(
    "agent:default:telegram:group:-5:topic:3",
  );
});

test("in every scope, messages that differ in what the scope is about never share a session", () => {
  const word = fc.constantFrom("a", "b", "dm", "group", "topic", "@a", "a:dm", "a%3A");
  const place = fc.record(
    { channel: fc.oneof(word, fc.constant("telegram")), account: word, chat: word, thread: word },
    { requiredKeys: ["channel", "account", "chat"] },
  );
  const facts = fc.record({
    place,
    who: word,
    scope: fc.constantFrom("dm" as const, "group" as const),
    agent: fc.constantFrom("x", "y"),
  });
  type Facts = typeof facts extends fc.Arbitrary<infer T> ? T : never;
  const about = (dmScope: DmScope, { place: at, who, scope, agent }: Facts): readonly unknown[] => {
    const account = dmScope === "per-account-channel-peer" ? at.account : null;
    if (scope === "group") return ["group", agent, at.channel, account, at.chat, at.thread];
    if (dmScope === "per-peer") return ["peer", agent, who];
    const peer = at.channel === "telegram" ? who : at.chat; // all of them are guests there, so main is as per-channel-peer
    return ["chat", agent, at.channel, account, peer, at.thread];
  };
  fc.assert(
    fc.property(fc.constantFrom(...SCOPES), facts, facts, (dmScope, one, other) => {
      const config = { ...session(dmScope), agents: [{ id: "x" }, { id: "y" }] };
      const key = ({ place: at, who, scope, agent }: Facts) =>
        keyOf(config, from(`telegram:user:${encodeURIComponent(who)}`, at, { scope, agentId: agent as AgentId }));
      const same = JSON.stringify(about(dmScope, one)) === JSON.stringify(about(dmScope, other));
      return (key(one) === key(other)) === same;
    }),
    { numRuns: 2_000 },
  );
});

describe("the agent", () => {
  const agents = [{ id: "research" }, { id: "family", role: "guest" as const }];

  test("is the default one, the bound one, or the one that was asked for", () => {
    const bindings = [{ agent: "research", channel: "telegram" }];
    expect(keyOf({ agents }, from("telegram:user:2"))).toStartWith("agent:default:");
    expect(keyOf({ agents, bindings }, from("telegram:user:2"))).toBe("agent:research:telegram:dm:2");
    const asked = from("telegram:user:2", {}, { agentId: "default" as AgentId });
    expect(keyOf({ agents, bindings }, asked)).toBe("agent:default:telegram:dm:2");
  });

  test("that does not exist is refused by name, with those that do", () => {
    expect(decide({ agents }, from("telegram:user:2", {}, { agentId: "nobody" as AgentId }))).toEqual({
      kind: "refuse",
      because: "unknown_agent",
      tell: "refusal",
      say: 'There is no agent "nobody". Choose one of: default, research, family.',
    });
  });

  test("may give nobody more than its own role, and never gives more than a person has", () => {
    const asking = (who: string, agent: string) =>
      decide({ agents }, from(who, {}, { agentId: agent as AgentId }), open);
    expect(asking("telegram:user:1", "family")).toMatchObject({ role: "guest" });
    expect(asking("telegram:user:1", "research")).toMatchObject({ role: "owner" });
    expect(
      decide(
        { agents: [{ id: "family", role: "owner" }] },
        from("telegram:user:9", {}, { agentId: "family" as AgentId }),
        open,
      ),
    ).toMatchObject({ role: "guest" });
  });
});

describe("a verdict", () => {
  test("says why", () => {
    const config = { agents: [{ id: "research" }], bindings: [{ agent: "research", role: "owner" as const }] };
    expect(decide(config, from("telegram:user:1"))).toMatchObject({
      kind: "accept",
      role: "owner",
      priority: 10,
      because: [
        "owner: roles.owners lists this id",
        "agent research: bindings[0] fits by role, and nothing fits more exactly",
        "session: session.dmScope is per-channel-peer",
      ],
    });
    expect(decide({}, from("telegram:user:1", { chat: "-5" }, { scope: "group" }), open)).toMatchObject({
      priority: 5,
    });
  });

  test("refuses strangers, whatever they call themselves", () => {
    expect(decide({}, from("telegram:user:9"))).toMatchObject({ kind: "refuse", because: "unknown_sender" });
  });

  test("is the same whether or not it is explained", () => {
    const config = routingConfig({
      roles,
      agents: [{ id: "research" }],
      bindings: [{ agent: "research", channel: "telegram" }, { agent: "default" }],
    });
    for (const message of [from("telegram:user:1"), from("telegram:user:9"), from("operator", { channel: "api" })]) {
      expect(explainRoute(config, message).verdict).toEqual(createRouter(() => config).decide(message));
    }
    expect(explainRoute(config, from("telegram:user:1")).considered.map(({ wins }) => wins)).toEqual([true, false]);
    expect(explainRoute(config, from("telegram:user:9")).considered).toEqual([]);
  });
});

describe("a session chosen by name", () => {
  const bindings = [{ agent: "research", channel: "api", chat: "papers" }];

  test.each([
    ["papers", undefined, "agent:research:api:dm:papers"],
    ["papers", "default", "agent:default:api:dm:papers"],
    ["other", undefined, "agent:default:api:dm:other"],
    ["agent:default:api:dm:papers", undefined, "agent:default:api:dm:papers"],
    ["agent:research:webchat:dm:1", undefined, "agent:research:webchat:dm:1"],
  ])("%s with agent %p is %s", (text, agent, key) => {
    expect(String(chooseSession({ bindings }, text, agent)?.sessionKey)).toBe(key);
  });

  test.each([
    "agent:default:telegram:dm:1",
    "agent:default:api:group:1",
    "agent:default:api:dm:1:topic:2",
    "agent:default:api:acc:dm:1",
    "agent:default:api:dm:@bo",
    "agent:default:main",
    "Not a name",
  ])("is nothing of page or API: %s", (text) => {
    expect(chooseSession({ bindings }, text, undefined)).toBeNull();
  });

  test("leads to the session in which the message is then stored", () => {
    const place = chooseSession({ bindings }, "papers", undefined);
    const message = from("operator", { channel: "api", account: "default", chat: place?.chat ?? "" });
    expect(keyOf({ agents: [{ id: "research" }], bindings }, message)).toBe(String(place?.sessionKey));
  });
});
