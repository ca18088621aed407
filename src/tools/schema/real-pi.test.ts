/** The schemas of hundreds of real tools, given to a real pi at once: they reach the model as they are, and a call comes back whole. */
import { expect, test } from "bun:test";
import { agentFixture, okResult, providers, replyOf } from "../../testing/agent-fixture.ts";
import { inOrder, says, startFakeProvider } from "../../testing/fake-provider.ts";
import { serverOf, toolCorpus } from "../../testing/schemas/tool-corpus.ts";
import { registryOf } from "../../testing/tools/quiet-gate.ts";
import { nameTools } from "./tool-names.ts";

const SLOW_MACHINE_MS = 60_000;

test(
  "a real agent is offered 536 real tools as they are, not the quarantined one, and calls one of them",
  async () => {
    const corpus = await toolCorpus();
    const names = nameTools(corpus.map((tool) => ({ server: serverOf(tool), name: tool.name })));
    const words = { label: "A tool", description: "A tool." };
    const common = { ...words, flags: { idempotent: true }, timeoutMs: 1_000, execute: async () => ({ content: [] }) };
    const tools = corpus.map(({ inputSchema }, index) => ({
      ...common,
      name: names[index] ?? "",
      parameters: inputSchema,
    }));
    const registry = registryOf(tools);
    const input = { query: "weather", count: 3, safesearch: "strict" };

    await using provider = await startFakeProvider(
      inOrder({ kind: "tools", calls: [{ name: "brave_search_mcp_server_brave_web_search", input }] }, says("found")),
    );
    await using fx = await agentFixture({ model: "fake/fake-1" }, providers(provider));
    fx.gate.tools = registry.allUsable(null).map(({ tool }) => tool);
    fx.gate.answer = async ({ tool, params }) =>
      okResult(registry.usable(tool, null)?.check(params).ok ? "valid" : "wrong");
    expect(replyOf(await fx.turn("what is the weather?"))).toBe("found");

    const offered = provider.requests[0]?.body.tools as { function: { name: string; parameters: unknown } }[];
    expect(offered.length).toBe(536);
    const given = new Map(tools.map(({ name, parameters }) => [name, parameters]));
    expect(offered.filter((each) => !Bun.deepEquals(each.function.parameters, given.get(each.function.name)))).toEqual(
      [],
    );
    expect(offered.map((each) => each.function.name)).not.toContain("dynatrace_mcp_server_send_email");
    expect(fx.gate.calls.map(({ params }) => params)).toEqual([input]);
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain("valid");
  },
  SLOW_MACHINE_MS,
);
