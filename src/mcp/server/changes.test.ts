/** What MCP clients hear of without asking: once for a burst, and only what concerns them. */
import { describe, expect, test } from "bun:test";
import type { AgentId, SessionKey } from "../../contracts/ids.ts";
import { createEvents } from "../../observe/index.ts";
import { keySession } from "../../routing/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";
import { makeKey } from "../../testing/http/test-keys.ts";
import { MCP_REVISIONS, mcpClient, testMcpDoor } from "../../testing/http/test-mcp-door.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { waitFor } from "../../testing/wait-for.ts";
import { type Changes, watchChanges } from "./changes.ts";
import { createMcpSurface } from "./surface.ts";

const A = "agent:default:api:dm:a" as SessionKey;

test("a burst of changes is told once, after a moment, and nothing after the end", async () => {
  const clock = createFakeClock();
  const events = createEvents({ log: recordingLog() });
  const { registry, gate } = toolWorld([]);
  const surface = createMcpSurface();
  const told: Changes[] = [];
  const watching = watchChanges({ clock, events, gate, surface }, (news) => void told.push(news));
  for (const name of ["one", "two", "three"])
    registry.register(
      tool(async () => says("x"), { name }),
      "p",
    );
  await clock.advance(1_000);
  expect(told).toEqual([{ tools: true, resources: false, prompts: false, sessions: [] }]);
  surface.add({ prompts: [{ name: "sail", description: "Sail", get: () => [] }] });
  events.emit("status", { what: "sessions" });
  events.emit("turn.ended", { sessionKey: A } as never);
  events.emit("message", { sessionKey: A } as never);
  await clock.advance(1_000);
  expect(told[1]).toEqual({ tools: false, resources: true, prompts: true, sessions: [A] });
  surface.add({ prompts: [{ name: "row", description: "Row", get: () => [] }] });
  watching[Symbol.dispose]();
  await clock.advance(1_000);
  expect(told).toHaveLength(2);
});

describe.each(MCP_REVISIONS)("a client of %s", (revision) => {
  test("hears of changed tools, and of transcripts that it may see and has subscribed to", async () => {
    const world = toolWorld([]);
    const { gate, list, events, clock, registry } = world;
    const approvals = { pending: () => [], decide: async () => "unknown" as const };
    const questions = { pending: () => [], answer: () => ({ kind: "refused", because: "over", say: "" }) as const };
    await using mcp = testMcpDoor({ events, clock, tools: { gate, list, approvals, questions } });
    await using http = startHttpWorld({}, { tools: { gate, list, mcp } });
    const { secret, key } = await makeKey(http.deps.people.keys, { scopes: ["chat", "tools"] });
    const client = await mcpClient({ url: http.http.url, revision, token: secret });
    const sessionKey = keySession(key, "main", "default" as AgentId).sessionKey;
    const uris = [sessionKey, A].map((one) => `pi-gateway://sessions/${encodeURIComponent(one)}`);
    const heard: string[] = [];
    client.setNotificationHandler("notifications/tools/list_changed", () => void heard.push("tools"));
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
    if (revision === "2026-07-28") await client.listen({ toolsListChanged: true, resourceSubscriptions: uris });
    else {
      for (const uri of uris) await client.subscribeResource({ uri });
      await expect(client.subscribeResource({ uri: `x://${"a".repeat(2_048)}` })).rejects.toThrow("2048 characters");
    }
    registry.register(
      tool(async () => says("x"), { name: "new" }),
      "p",
    );
    events.emit("turn.ended", { sessionKey: A } as never);
    events.emit("turn.ended", { sessionKey } as never);
    await clock.advance(1_000);
    await waitFor("both news", () => heard.length >= 2);
    expect(heard.toSorted()).toEqual([uris[0] ?? "", "tools"]);
    await client.close();
  });
});
