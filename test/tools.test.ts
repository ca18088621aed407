/** Tools in a whole gateway and behind real pi: who may do what, what is left on record, and that nothing happens twice. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BuiltinToolDeps, builtinTools } from "../src/builtin.ts";
import type { Caller } from "../src/contracts/agent.ts";
import type { Principal, SessionKey, TurnId } from "../src/contracts/ids.ts";
import type { AuditRow } from "../src/contracts/store/tool-calls.ts";
import type { Tool } from "../src/contracts/tools/tool.ts";
import { deferred } from "../src/kit/deferred.ts";
import { openStore, verifyAudit } from "../src/store/index.ts";
import { systemClock } from "../src/kit/clock.ts";
import { systemIds } from "../src/kit/ids.ts";
import { silentLog } from "../src/kit/log.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { realTools } from "../src/testing/tools/real-tools.ts";
import { EFFECTS_FILE, startToolChild, type ToolChildOptions } from "../src/testing/tools/tool-child.ts";
import { OWNER, says as result, tool } from "../src/testing/tools/tool-world.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { agentReady, asked, endpoint, eventually, openSocket, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** The gateway's own tools as they are offered; none of their calls may get as far as what they work with. */
const NOTHING_BEHIND = { search: { settings: () => ({}) } } as unknown as BuiltinToolDeps;
const PLANTED = "sk-planted-in-a-message-0123456789";

describe("a whole gateway", () => {
  let provider: FakeProvider;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    provider = await startFakeProvider((request) => {
      const isFirst = request.messages.at(-1)?.role === "user";
      if (!isFirst) return says("that is all");
      return {
        kind: "tools",
        calls: [{ name: asked(request).includes("status") ? "session_status" : "bash", input: {} }],
      };
    });
    gateway = await startGatewayProcess({ config: endpoint(provider) });
    await agentReady(gateway);
  });
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
  });

  const calls = async (query = ""): Promise<readonly AuditRow[]> =>
    ((await (await gateway.fetch(`/api/tool-calls${query}`)).json()) as { items: AuditRow[] }).items;
  const post = (body: unknown) =>
    gateway.fetch("/api/tools/call", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  test("writes down every call with who, where, what, and how it ended, and the reply names it", async () => {
    const { body } = await gateway.chat("what is your status?", { session: "audit" });
    expect(body.tool_calls).toMatchObject([{ tool: "session_status", status: "success" }]);
    expect(await calls("?session=audit")).toEqual([
      {
        ...{
          id: expect.any(String),
          turnId: body.turnId,
          userId: "operator",
          sessionKey: "agent:default:api:dm:audit",
        },
        ...{ tool: "session_status", origin: "chat", input: {}, output: expect.stringContaining("Model: fake/fake-1") },
        ...{ status: "success", executionTimeMs: expect.any(Number), createdAt: expect.any(Number) },
      } as never,
    ]);
  });

  test("gives an agent none of pi's own tools, and what it calls all the same is not run", async () => {
    await gateway.chat("run something", { session: "shell" });
    const { tools, messages } = provider.requests.at(-1) ?? { tools: [], messages: [] };
    expect(tools).not.toContain("bash");
    expect(textOf(messages.at(-1)?.content)).toContain("bash");
    expect(await calls("?session=shell")).toMatchObject([
      { tool: "bash", status: "blocked", output: "The agent did not make this call: Tool bash not found" },
    ]);
  });

  test("answers programs in the promised shapes, writes those calls down too, and hides secrets", async () => {
    const list = (await (await gateway.fetch("/api/tools")).json()) as { tools: { name: string; plugin: string }[] };
    expect(list.tools).toContainEqual(
      expect.objectContaining({ name: "session_status", plugin: "gateway", status: "ok" }),
    );
    const failed = await post({ tool: "session_status", params: {}, callId: "by-hand" });
    expect([failed.status, await failed.json()]).toMatchObject([
      200,
      {
        ok: false,
        error: { code: "tool_failed" },
        envelope: { status: "error", tool: "session_status" },
        callId: "by-hand",
      },
    ]);
    expect((await post({ tool: "session_status", params: { token: PLANTED }, callId: "hostile" })).status).toBe(422);
    expect((await post({ tool: "nothing" })).status).toBe(404);
    expect((await post({ tool: "session_status", sessionKey: "agent:default:api:dm:audit" })).status).toBe(400);
    const rows = await calls("?status=blocked");
    expect(rows.map(({ tool: name, origin, turnId }) => [name, origin, turnId])).toEqual([
      ["session_status", "api", null], // the one that named a session
      ["nothing", "api", null],
      ["session_status", "api", null],
      ["bash", "chat", expect.any(String) as never],
    ]);
    expect(JSON.stringify(rows)).not.toContain(PLANTED);
    const socket = await openSocket(gateway, null);
    await expect(socket.request("tools.call", { tool: "nothing" })).rejects.toThrow("unknown_tool");
    socket.close();
  });

  test("keeps a record that verifies while it runs", async () => {
    expect(await verifyAudit(gateway.home)).toMatchObject({ kind: "intact", findings: [] });
  });
});

test("a tool that the configuration denies is not offered, and refused to who calls it all the same", async () => {
  await using provider = await startFakeProvider(() => says("hello"));
  await using gateway = await startGatewayProcess({
    config: { ...endpoint(provider), tools: { deny: ["session_*"] } },
  });
  await gateway.chat("hello");
  expect(provider.requests.at(-1)?.tools).not.toContain("session_status");
  const init = { method: "POST", headers: { "content-type": "application/json" } };
  const answer = await gateway.fetch("/api/tools/call", { ...init, body: JSON.stringify({ tool: "session_status" }) });
  expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: "not_allowed" } }]);
});

describe("an agent that does whatever it is told", () => {
  /** A stranger in a group who has made the model obey. */
  const guest: Caller = {
    ...OWNER,
    sessionKey: "agent:default:telegram:group:-100" as SessionKey,
    turnId: "turn_attack" as TurnId,
    principal: "telegram:user:666" as Principal,
    role: "guest",
    origin: { channel: "telegram", account: "default", chat: "-100" },
  };
  const HOSTILE = {
    sessionKey: "agent:default:webchat:dm:1",
    path: "/etc/passwd",
    command: "id",
    text: "x",
    action: "config.get",
  };
  const FLAGS = ["ownerOnly", "optional", "workspaceOnly", "pty", "elevated"] as const;

  function armed(effects: string[]): readonly Tool[] {
    const open = { type: "object", properties: {}, additionalProperties: true };
    const make = (name: string, flags: Partial<Tool["flags"]>) =>
      tool(async () => (effects.push(name), result("it worked")), {
        name,
        parameters: open,
        flags: { idempotent: false, ...flags },
      });
    return [...FLAGS.map((flag) => make(`t_${flag.toLowerCase()}`, { [flag]: true })), make("t_free", {})];
  }

  test("gets nothing done that its caller may not, over real pi, and every try is on record", async () => {
    const effects: string[] = [];
    const tools = [...armed(effects), ...builtinTools(NOTHING_BEHIND)];
    const names = [...tools.map(({ name }) => name), "bash", "read", "write", "__proto__"];
    await using world = await realTools({
      tools,
      script: ({ messages }) =>
        messages.at(-1)?.role === "user"
          ? { kind: "tools", calls: names.map((name) => ({ name, input: HOSTILE })) }
          : says("I have tried everything"),
    });
    const events = await world.turn("do it", guest, "session-attack.jsonl");
    expect(events.at(-1)).toMatchObject({ type: "done" });
    expect(effects).toEqual(["t_free"]);
    // a process that was taken over need not ask pi which tools there are
    for (const name of names) await world.call(name, HOSTILE, { ...OWNER, ...guest });
    expect(effects).toEqual(["t_free", "t_free"]);
    const rows = await eventually(world.rows, (seen) => seen.every(({ status }) => status !== "pending"));
    expect(new Set(rows.flatMap(({ tool: name, status }) => (status === "success" ? [name] : [])))).toEqual(
      new Set(["t_free"]),
    );
    const tried = rows.map(({ tool: name, userId, origin, status }) => [name, userId, origin, status].join(" "));
    const denied = names.filter((name) => name !== "t_free").map((name) => `${name} telegram:user:666 group blocked`);
    expect(denied.filter((line) => !tried.includes(line))).toEqual([]);
    expect(await verifyAudit(world.home)).toMatchObject({ kind: "intact" });
  });

  test("is told no in a form that a model can read", async () => {
    const call = { kind: "tools", calls: [{ name: "t_free", input: {} }] } as const;
    await using world = await realTools({
      tools: armed([]),
      rules: { limits: { t_free: { calls: 1, perMs: 60_000 } } },
      script: ({ messages }) => (messages.filter(({ role }) => role === "tool").length < 2 ? call : says("oh")),
    });
    await world.turn("do it, twice", guest, "session-no.jsonl");
    const told = textOf(world.provider.requests.at(-1)?.messages.at(-1)?.content);
    expect(JSON.parse(told)).toEqual({ status: "blocked", tool: "t_free", reason: expect.stringContaining("t_free") });
  });
});

test("a hundred slow calls of one conversation do not keep another from being answered, tools included", async () => {
  const release = deferred<void>();
  const slow = tool(() => release.promise.then(() => result("at last")), { name: "slow", timeoutMs: 120_000 });
  const quick = tool(async () => result("at once"), { name: "quick" });
  await using world = await realTools({
    tools: [slow, quick],
    script: ({ messages }) =>
      messages.at(-1)?.role === "user"
        ? { kind: "tools", calls: [{ name: "quick", input: { text: "x" } }] }
        : says("answered"),
  });
  let ended = 0;
  const hundred = Array.from({ length: 100 }, async () => {
    await world.call("slow", { text: "x" }, OWNER);
    ended++;
  });
  const other = { ...OWNER, sessionKey: "agent:default:webchat:dm:2" as SessionKey, turnId: "turn_2" as TurnId };
  const events = await world.turn("hello", other, "session-other.jsonl");
  expect([events.at(-1), ended]).toMatchObject([{ type: "done", text: "answered" }, 0]);
  release.resolve();
  await Promise.all(hundred);
  const done = async () =>
    (await world.rows()).filter(({ tool: name, status }) => name === "slow" && status === "success");
  expect((await eventually(done, ({ length }) => length === 100)).length).toBe(100);
});

describe("kill -9 in the middle of a tool", () => {
  const ROUNDS = 5;
  const effectsOf = (home: string, callId: string): number =>
    readFileSync(join(home, EFFECTS_FILE), "utf8")
      .split("\n")
      .filter((line) => line === callId).length;

  async function lastLine(options: ToolChildOptions): Promise<unknown> {
    const child = startToolChild(options);
    const text = await new Response(child.stdout).text();
    await child.exited;
    return JSON.parse(text.trim().split("\n").at(-1) ?? "");
  }

  async function killInTool(options: ToolChildOptions): Promise<void> {
    const child = startToolChild(options);
    const reader = child.stdout.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain("effect");
    child.kill("SIGKILL");
    await child.exited;
  }

  test("is never followed by a second effect: the call is answered with outcome_unknown", async () => {
    await using home = await tempHome();
    for (let round = 0; round < ROUNDS; round++) {
      const options = { home: home.path, callId: `call-${round}`, idempotent: false } as const;
      await killInTool({ ...options, how: "hang" });
      expect(await lastLine({ ...options, how: "end" })).toMatchObject({ kind: "refused", code: "outcome_unknown" });
      expect(effectsOf(home.path, options.callId)).toBe(1);
    }
    await using store = await openStore({ clock: systemClock, ids: systemIds, log: silentLog }, { home: home.path });
    const { items } = await store.toolCalls.list({ status: "unknown" }, { limit: 50 });
    expect(items.length).toBe(ROUNDS);
    expect((await verifyAudit(home.path)).findings).toEqual([]);
  });

  test("is followed by another try where the tool says that it may", async () => {
    await using home = await tempHome();
    const options = { home: home.path, callId: "again", idempotent: true } as const;
    await killInTool({ ...options, how: "hang" });
    expect(await lastLine({ ...options, how: "end" })).toEqual({ kind: "ok", result: result("done") });
    expect(await lastLine({ ...options, how: "end" })).toEqual({ kind: "ok", result: result("done") });
    expect(effectsOf(home.path, "again")).toBe(2);
  });
});
