/** What programs of an agent reach from behind each wall, with real pi and curl. Only the resolver and the last step to a host are ours. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { NetworkSetting } from "../contracts/egress.ts";
import { createEgress } from "../egress/index.ts";
import { connectOut } from "../egress/outgoing.ts";
import { systemClock } from "../kit/clock.ts";
import { systemIds } from "../kit/ids.ts";
import { silentLog } from "../kit/log.ts";
import { agentFixture, providers } from "../testing/agent-fixture.ts";
import { says, startFakeProvider } from "../testing/fake-provider.ts";
import { tempHome } from "../testing/temp-home.ts";
import { testSandbox } from "../testing/confined-run.ts";
import { createAgentTokens } from "./tools/agent-tokens.ts";

const LIMIT_MS = 60_000;
let host: Bun.Server<undefined>;
let gateway: Bun.Server<undefined>;

beforeAll(() => {
  const serve = (said: string) =>
    Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => new Response(`${said}:${request.headers.get("host")}`),
    });
  host = serve("host");
  gateway = serve("gateway");
});
afterAll(async () => {
  await Promise.all([host.stop(true), gateway.stop(true)]);
});

type Tier = "full" | "basic";

/** What a program of the agent saw, line by line. */
async function looked(
  tier: Tier,
  network: NetworkSetting,
): Promise<{ readonly lines: readonly string[]; readonly rows: readonly string[] }> {
  const rows: string[] = [];
  const egress = createEgress({
    clock: systemClock,
    log: silentLog,
    audit: { note: async ({ kind, detail }) => void rows.push(`${kind} ${String(detail["host"])}`) },
    resolve: async () => ["93.184.216.34"],
    gatewayPort: Promise.resolve(gateway.port ?? 0),
    questions: { ask: async () => ({ kind: "no", because: "nobody is asked here" }) },
    connect: () => connectOut("127.0.0.1", host.port ?? 0),
  });
  const url = `http://127.0.0.1:${gateway.port}`;
  const curl = (what: string) => `curl -s --max-time 5 ${what} || echo failed`;
  const command = [
    'echo "told:${https_proxy:+proxy}:${PI_GATEWAY_URL:+gateway}"',
    `${curl("http://example.org/")}; echo`,
    `${curl("http://other.example/")}; echo`,
    `${curl(`--noproxy '*' http://127.0.0.1:${host.port}/`)}; echo`,
    `${curl('"${PI_GATEWAY_URL:-http://127.0.0.1:1}/"')}; echo`,
  ].join("; ");
  await using fake = await startFakeProvider(({ messages }) =>
    messages.at(-1)?.role === "tool" ? says("ok") : { kind: "tools", calls: [{ name: "bash", input: { command } }] },
  );
  const reach = { url: Promise.resolve(url), tokens: createAgentTokens({ ids: systemIds, hide: () => undefined }) };
  await using fx = await agentFixture({ tools: "full", network, egress, reach, tiers: [tier] }, providers(fake));
  await fx.turn("try the network");
  const said = fx.gate.admitted[0]?.end?.output ?? "";
  return { lines: said.trim().split("\n").filter(Boolean), rows };
}

async function canBuild(tier: Tier): Promise<boolean> {
  await using home = await tempHome();
  return (await testSandbox(home.path, [tier]).wall()).report.tier === tier;
}
const [full, basic] = await Promise.all([canBuild("full"), canBuild("basic")]);
const own = () => `gateway:127.0.0.1:${gateway.port}`;
const LISTED = { allow: ["example.org"] };

test.skipIf(!full)(
  "behind the full wall programs reach the gateway's port and listed hosts, and nothing else of the machine",
  async () => {
    const { lines, rows } = await looked("full", LISTED);
    expect(lines[0]).toBe("told:proxy:gateway");
    expect(lines[1]).toBe("host:example.org");
    expect(lines[2]).toContain("other.example is not listed in agent.network.allow");
    expect(lines.slice(3)).toEqual(["failed", own()]);
    expect(rows).toEqual(["network.opened example.org", "network.refused other.example"]);
  },
  LIMIT_MS,
);

test.skipIf(!full)(
  "behind the full wall programs reach the gateway's port and no host when the network is none, and are told why",
  async () => {
    const { lines, rows } = await looked("full", "none");
    expect(lines[0]).toBe("told:proxy:gateway");
    expect(lines[1]).toContain('The owner can set agent.network to {"allow":["example.org"]}');
    expect(lines.slice(3)).toEqual(["failed", own()]);
    expect(rows).toEqual(["network.refused example.org", "network.refused other.example"]);
  },
  LIMIT_MS,
);

test.skipIf(!basic)(
  "behind the basic wall programs reach nothing when the network is none",
  async () => {
    expect((await looked("basic", "none")).lines).toEqual(["told:proxy:", "failed", "failed", "failed", "failed"]);
  },
  LIMIT_MS,
);

test.skipIf(!basic)(
  "behind the basic wall programs reach listed hosts by a proxy of their own, the gateway, and no other port",
  async () => {
    const { lines, rows } = await looked("basic", LISTED);
    expect(lines[1]).toBe("host:example.org");
    expect(lines[2]).toContain("other.example is not listed");
    expect(lines.slice(3)).toEqual(["failed", own()]);
    expect(rows).toEqual(["network.opened example.org", "network.refused other.example"]);
  },
  LIMIT_MS,
);
