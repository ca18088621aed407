/** What the token of an agent process opens, and what it does not. */
import { describe, expect, test } from "bun:test";
import type { ToolContext } from "../../contracts/tools/tool.ts";
import { caller } from "../../testing/agent-fixture.ts";
import { type HttpWorld, startHttpWorld, TOKEN } from "../../testing/http/http-fixture.ts";
import { createAgentTokens } from "../../agents/index.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { systemIds } from "../../kit/ids.ts";

const context = (principal: string): ToolContext => ({
  ...caller(principal),
  stats: () => Promise.reject(new Error("not here")),
});

function stage() {
  const tokens = createAgentTokens({ ids: systemIds, hide: () => undefined });
  const world = startHttpWorld({}, { tools: { agentTokens: tokens } });
  return { world, tokens };
}

const ask = (world: HttpWorld, token: string, path: string, body?: unknown) =>
  fetch(world.url(path), {
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });

describe("the token of an agent process", () => {
  test("opens the list of tools while its process works for somebody, and is refused before and after", async () => {
    const { world, tokens } = stage();
    await using _world = world;
    const token = tokens.issue();
    const status = async () => (await ask(world, token.secret.reveal(), "/api/tools")).status;
    expect(await status()).toBe(403);
    token.serve(context("web:user:1"));
    expect(await status()).toBe(200);
    token.serve(null);
    expect(await status()).toBe(403);
    token[Symbol.dispose]();
    expect(await status()).toBe(401);
  });

  test("opens nothing else, and being refused elsewhere does not count as guessing", async () => {
    const { world, tokens } = stage();
    await using _world = world;
    const token = tokens.issue();
    token.serve(context("web:user:1"));
    for (let n = 0; n < 5; n++) {
      for (const path of ["/api/status", "/api/sessions", "/api/config", "/api/plugins", "/metrics", "/ws"])
        expect([path, (await ask(world, token.secret.reveal(), path)).status]).toEqual([path, 403]);
      expect((await ask(world, token.secret.reveal(), "/api/chat", { text: "hi" })).status).toBe(403);
    }
    expect((await ask(world, TOKEN, "/api/status")).status).toBe(200);
    expect(world.received).toEqual([]);
  });

  test("speaks for the one its process serves now; pid and sessionKey in the body are refused", async () => {
    const { world, tokens } = stage();
    await using _world = world;
    const [one, two] = [tokens.issue(), tokens.issue()];
    one.serve(context("web:user:1"));
    two.serve(context("web:user:2"));
    const resolved = (token: string) => tokens.resolve(token)?.principal as string | undefined;
    expect([resolved(one.secret.reveal()), resolved(two.secret.reveal())]).toEqual(["web:user:1", "web:user:2"]);
    one.serve(context("web:user:3"));
    expect(resolved(one.secret.reveal())).toBe("web:user:3");
    for (const extra of [{ pid: 1 }, { sessionKey: "agent:default:api:dm:operator" }])
      expect(
        (await ask(world, one.secret.reveal(), "/api/tools/call", { tool: "x", params: {}, ...extra })).status,
      ).toBe(400);
  });

  test("is long, different for every process, and kept only as a digest", () => {
    const tokens = createAgentTokens({ ids: systemIds, hide: () => undefined });
    const values = Array.from({ length: 100 }, () => tokens.issue().secret.reveal());
    expect(new Set(values).size).toBe(100);
    expect(Math.min(...values.map((value) => Buffer.from(value, "base64url").length))).toBe(32);
    expect(Bun.inspect(tokens, { depth: 10 })).not.toContain(values[0] ?? "");
  });

  test("is hidden from everything that is written for as long as it lives", () => {
    const hidden: string[] = [];
    const tokens = createAgentTokens({
      ids: createSeqIds(),
      hide: (secret) => {
        hidden.push(secret.reveal());
        return { [Symbol.dispose]: () => void hidden.pop() };
      },
    });
    const token = tokens.issue();
    expect(hidden).toEqual([token.secret.reveal()]);
    token[Symbol.dispose]();
    expect(hidden).toEqual([]);
  });
});
