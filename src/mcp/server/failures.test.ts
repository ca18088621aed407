/** What a client hears of resources and prompts of plugins that fail. */
import { expect, test } from "bun:test";
import { GatewayError } from "../../contracts/errors.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";
import { MCP_REVISIONS, mcpClient, testMcpDoor } from "../../testing/http/test-mcp-door.ts";
import { toolWorld } from "../../testing/tools/tool-world.ts";
import { createMcpSurface } from "./surface.ts";
import { NO_MASK } from "../../kit/secret.ts";

const MASK = { ...NO_MASK, text: (text: string) => text.replaceAll("s3cret-value", "[redacted]") };

test.each(MCP_REVISIONS)("a client of %s hears why a plugin failed, without secrets", async (revision) => {
  const { gate, list, events, clock } = toolWorld([]);
  const approvals = { pending: () => [], decide: async () => "unknown" as const };
  const questions = { pending: () => [], answer: () => ({ kind: "refused", because: "over", say: "" }) as const };
  const surface = createMcpSurface();
  let thrown: unknown = null;
  const fail = () => Promise.reject(thrown);
  surface.add({
    resources: [{ uri: "x://a", name: "a", read: fail }],
    prompts: [{ name: "p", description: "p", get: fail }],
  });
  await using mcp = testMcpDoor({
    events,
    clock,
    surface,
    mask: MASK,
    tools: { gate, list, approvals, questions },
  });
  await using http = startHttpWorld({}, { tools: { gate, list, mcp } });
  const client = await mcpClient({ url: http.http.url, revision });
  const heard = async (failure: unknown): Promise<readonly string[]> => {
    thrown = failure;
    const asked = [client.readResource({ uri: "x://a" }), client.getPrompt({ name: "p" })];
    return (await Promise.allSettled(asked)).map((one) =>
      one.status === "rejected" ? String(one.reason) : "it worked",
    );
  };
  const both = (words: string) =>
    [expect.stringContaining(words), expect.stringContaining(words)] as unknown as string[];
  expect(await heard(new Error("no answer to s3cret-value"))).toEqual(both("no answer to [redacted]"));
  const busy = new GatewayError("queue_full", "inner words", { say: "Too many wait." });
  expect(await heard(busy)).toEqual(both("Too many wait."));
  expect((await heard(busy)).join()).not.toContain("inner words");
  expect(await heard(undefined)).toEqual(both("without saying why"));
  await client.close();
});
