/** What `agent.sandbox` does to agents on a machine that can build a wall, and on one that cannot. Real pi. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { agentFixture, collect, providers, replyOf } from "../testing/agent-fixture.ts";
import { programPid } from "../testing/confined-pid.ts";
import { says, startFakeProvider } from "../testing/fake-provider.ts";

setDefaultTimeout(120_000);

const PI_TOOLS = ["bash", "edit", "find", "grep", "ls", "read", "write"];

async function offered(settings: object, tiers?: readonly ("full" | "basic")[]) {
  await using provider = await startFakeProvider(() => says("ok"));
  const config = { model: "fake/fake-1", ...settings, ...(tiers ? { tiers } : {}) };
  await using fx = await agentFixture(config as never, providers(provider));
  await using lease = await fx.lease();
  expect(replyOf(await collect(lease, "hello"))).toBe("ok");
  return { tools: provider.requests[0]?.tools.toSorted() ?? [], confined: programPid(lease.pid) !== lease.pid };
}

describe("where no wall can be built", () => {
  test("agents run without pi tools under auto, whatever their tools are set to", async () => {
    expect(await offered({ sandbox: "auto", tools: "full" }, [])).toEqual({ tools: [], confined: false });
  });

  test("agents do not start under required, and say why and what to do", async () => {
    await using fx = await agentFixture({ sandbox: "required", tiers: [] } as never);
    const error = await fx.lease().then(String, (reason: unknown) => reason);
    expect(error).toMatchObject({ code: "sandbox_unusable" });
    expect((error as { say: string }).say).toMatch(
      /^agent\.sandbox is "required", so agents do not start\. No wall can be built: .*Use Linux/,
    );
    expect(fx.happened.some(({ event }) => event === "agent.spawned")).toBe(false);
  });

  test("agents have the tools that the owner lists when the sandbox is switched off", async () => {
    expect(await offered({ sandbox: "off", tools: "full" }, [])).toEqual({ tools: PI_TOOLS, confined: false });
  });
});

test("an agent whose workspace holds the state directory does not start, and says why", async () => {
  await using fx = await agentFixture({ workspace: "/" } as never);
  const error = await fx.lease().then(String, (reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "sandbox_unusable",
    say: expect.stringContaining("/ contains the state directory"),
  });
});
