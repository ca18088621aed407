import { expect, test } from "bun:test";
import type { NetworkSetting } from "../contracts/egress.ts";
import { mayReach } from "./rules.ts";

const listed: NetworkSetting = { allow: ["example.org", "*.npmjs.org", "git.example.org:9418"] };

test.each<[string, number, NetworkSetting, boolean]>([
  ["example.org", 443, "none", false],
  ["example.org", 443, "all", true],
  ["anything.example", 8443, "all", true],
  ["example.org", 443, listed, true],
  ["EXAMPLE.org", 80, listed, true],
  ["example.org", 22, listed, false],
  ["www.example.org", 443, listed, false],
  ["registry.npmjs.org", 443, listed, true],
  ["a.b.npmjs.org", 443, listed, true],
  ["npmjs.org", 443, listed, false],
  [".npmjs.org", 443, listed, false],
  ["evilnpmjs.org", 443, listed, false],
  ["npmjs.org.evil.example", 443, listed, false],
  ["git.example.org", 9418, listed, true],
  ["git.example.org", 443, listed, false],
  ["example.org.", 443, listed, false],
  ["93.184.216.34", 443, { allow: ["*.34"] }, false],
  ["example.org", 443, { allow: [] }, false],
  ["example.org", 443, { allow: ["Example.ORG"] }, true],
  ["registry.npmjs.org", 443, { allow: ["*.NPMJS.org"] }, true],
  ["example.org", 80, { allow: ["example.org", "example.org:8443"] }, true],
  ["example.org", 8443, { allow: ["example.org", "example.org:8443"] }, true],
  ["example.org", 8443, { allow: ["*.example.org:8443", "example.org"] }, false],
  ["93.184.216.34", 443, { allow: ["93.184.216.34"] }, true],
])("a connection to %s, port %d, with the setting %j is allowed: %p", (host, port, network, expected) => {
  expect(mayReach({ host, port }, network).may).toBe(expected);
});

test("about a host that is not listed the owner is asked only where the setting says so", () => {
  const asks = (network: NetworkSetting) => mayReach({ host: "a.example", port: 443 }, network);
  expect(asks({ allow: ["b.example"], ask: true })).toMatchObject({ may: false, ask: true });
  expect(asks({ allow: ["b.example"], ask: false })).toMatchObject({ may: false, ask: false });
  expect(asks({ allow: ["a.example"], ask: true })).toEqual({ may: true });
});

test("a refused connection names the host and the setting that would allow it", () => {
  expect(mayReach({ host: "a.example", port: 443 }, listed)).toEqual({
    may: false,
    because: "a.example is not listed in agent.network.allow",
    advice: 'The owner can add "a.example" there.',
    ask: false,
  });
  expect(mayReach({ host: "a.example", port: 22 }, "none")).toEqual({
    may: false,
    because: "agent.network is none, so agents reach no host",
    advice: 'The owner can set agent.network to {"allow":["a.example:22"]}.',
    ask: false,
  });
  expect(mayReach({ host: "git.example.org", port: 443 }, listed)).toEqual({
    may: false,
    because: "port 443 of git.example.org is not listed in agent.network.allow (9418 are)",
    advice: 'The owner can add "git.example.org" there.',
    ask: false,
  });
});

test("a server whose setting is none is told the setting of its own", () => {
  expect(mayReach({ host: "a.example", port: 443 }, "none", "mcp.servers.shop.network")).toMatchObject({
    because: "mcp.servers.shop.network is none, so it reaches no host",
    advice: 'The owner can set mcp.servers.shop.network to {"allow":["a.example"]}.',
  });
});

test.each<[NetworkSetting, string]>([
  ["none", "agent.network"],
  ["all", "agent.network"],
  [{ allow: ["10.0.0.5"], ask: true }, "mcp.servers.shop.network"],
])(
  "an address on a private network is refused with %j, asks nobody, and the advice is what helps",
  (network, setting) => {
    const refused = mayReach({ host: "10.0.0.5", port: 8080 }, network, setting);
    expect(refused).toMatchObject({ may: false, because: "10.0.0.5 is on a private network", ask: false });
    const advice = "advice" in refused ? refused.advice : "";
    expect(advice).toContain(`Listing it in ${setting} does not help.`);
    expect(advice).toContain(
      setting === "agent.network" ? "tools.webFetch.privateOrigins" : `set ${setting} to "machine"`,
    );
  },
);
