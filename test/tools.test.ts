/** Tools in a whole gateway and behind real pi: who may do what, what is left on record, and that nothing happens twice. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BuiltinToolDeps, builtinTools } from "../src/builtin.ts";
import type { Caller } from "../src/contracts/agent.ts";
import type { Principal, SessionKey, TurnId } from "../src/contracts/ids.ts";
import type { AuditRow } from "../src/contracts/store/tool-calls.ts";
import type { Tool } from "../src/contracts/tools/tool.ts";
import { deferred } from "../src/kit/deferred.ts";
import { openStore } from "../src/store/index.ts";
import { verifyStoredAudit } from "../src/testing/stored-audit.ts";
import { systemClock } from "../src/kit/clock.ts";
import { systemIds } from "../src/kit/ids.ts";
import { silentLog } from "../src/kit/log.ts";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { realTools } from "../src/testing/tools/real-tools.ts";
import { callTool, EFFECTS_FILE, startToolChild, type ToolChildOptions } from "../src/testing/tools/tool-child.ts";
import { OWNER, says as result, tool } from "../src/testing/tools/tool-world.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { asked, endpoint, eventually, openSocket, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";
import { storeUrlOf } from "../src/testing/postgres/home-database.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** The built-in tools as they are offered; none of their calls may get as far as what they work with. */
const NOTHING_BEHIND = {
  search: { settings: () => ({}) },
  opensPages: () => false,
} as unknown as BuiltinToolDeps;
const PLANTED = "sk-planted-in-a-message-0123456789";

describe("a whole gateway", () => {
  let provider: FakeProvider;
  let gateway: GatewayProcess;

  const config = () => {
    const { agent, models } = endpoint(provider);
    return { models, agent: { ...agent, tools: "chat", pool: { min: 0, max: 1 } } };
  };

  beforeAll(async () => {
    provider = await startFakeProvider((request) => {
      const isFirst = request.messages.at(-1)?.role === "user";
      if (!isFirst) return says("that is all");
      return {
        kind: "tools",
        calls: [{ name: asked(request).includes("status") ? "session_status" : "bash", input: {} }],
      };
    });
    gateway = await startGatewayProcess({ config: config() });
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
        id: expect.any(String),
        turnId: body.turnId,
        userId: "operator",
        sessionKey: "agent:default:api:dm:audit",
        tool: "session_status",
        origin: "chat",
        input: {},
        output: expect.stringContaining("Model: fake/fake-1"),
        status: "success",
        executionTimeMs: expect.any(Number),
        createdAt: expect.any(Number),
      } as never,
    ]);
  });

  test("gives an agent none of the pi tools, and what it calls all the same is not run", async () => {
    await gateway.chat("run something", { session: "shell" });
    const { tools, messages } = provider.requests.at(-1) ?? { tools: [], messages: [] };
    expect(tools).not.toContain("bash");
    expect(textOf(messages.at(-1)?.content)).toContain("bash");
    expect(await calls("?session=shell")).toMatchObject([
      { tool: "bash", status: "error", output: "The agent did not make this call: Tool bash not found" },
    ]);
  });

  test("answers programs in the promised shapes, writes those calls down too, and hides secrets", async () => {
    const before = new Set((await calls()).map(({ id }) => id));
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
    const rows = await eventually(
      "all four calls are on record", // those that are refused before they begin are written down a moment later
      async () => (await calls("?status=error")).filter(({ id }) => !before.has(id)),
      ({ length }) => length >= 4,
    );
    expect(rows.map(({ tool: name, origin, turnId }) => [name, origin, turnId])).toEqual([
      ["session_status", "api", null], // the one that named a session
      ["nothing", "api", null],
      ["session_status", "api", null],
      ["session_status", "api", null], // the one that ran
    ]);
    expect(JSON.stringify(rows)).not.toContain(PLANTED);
    const socket = await openSocket(gateway, null);
    await expect(socket.request("tools.call", { tool: "nothing" })).rejects.toThrow("unknown_tool");
    socket.close();
  });

  test("keeps a record that verifies while it runs", async () => {
    await post({ tool: "session_status" });
    expect(await verifyStoredAudit(gateway.home)).toMatchObject({ kind: "intact", findings: [] });
  });

  test("does not offer a tool that the configuration denies, and refuses it to who calls it all the same", async () => {
    const reload = async (tools: object) => {
      const text = JSON.stringify({ ...config(), tools });
      await writeFile(join(gateway.home, "pi-gateway.jsonc"), text, { mode: 0o600 });
      expect((await gateway.fetch("/api/config/reload", { method: "POST" })).status).toBe(200);
    };
    await reload({ deny: ["session_*"] });
    await gateway.chat("hello", { session: "denied" });
    const offered = provider.requests.at(-1)?.tools;
    const answer = await post({ tool: "session_status" });
    await reload({});
    expect(offered).toContain("send_message");
    expect(offered).not.toContain("session_status");
    expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: "not_allowed" } }]);
  });
});

describe("real pi at the gate", () => {
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
  const effects: string[] = [];
  const open = { type: "object", properties: {}, additionalProperties: true };
  const make = (name: string, flags: Partial<Tool["flags"]>) =>
    tool(async () => (effects.push(name), result("it worked")), {
      name,
      parameters: open,
      flags: { idempotent: false, ...flags },
    });
  const armed = [...FLAGS.map((flag) => make(`t_${flag.toLowerCase()}`, { [flag]: true })), make("t_free", {})];
  const offered = [...armed, ...builtinTools(NOTHING_BEHIND)];
  const names = [...offered.map(({ name }) => name), "bash", "read", "write", "__proto__"];
  const release = deferred<void>();
  const slow = tool(() => release.promise.then(() => result("at last")), { name: "slow", timeoutMs: 120_000 });
  const quick = tool(async () => result("at once"), { name: "quick" });
  const spelled = tool(async (_id, params) => result(JSON.stringify(params)), {
    name: "spelled",
    parameters: {
      type: "object",
      properties: { chat_id: { type: "string" } },
      required: ["chat_id"],
      additionalProperties: false,
    },
  });

  function script(request: ProviderRequest): FakeReply {
    const words = asked(request);
    const results = request.messages.filter(({ role }) => role === "tool").length;
    if (words.includes("attack") && results === 0)
      return { kind: "tools", calls: names.map((name) => ({ name, input: HOSTILE })) };
    if (words.includes("twice") && results < 2) return { kind: "tools", calls: [{ name: "t_once", input: {} }] };
    if (words.includes("spell") && results === 0)
      return {
        kind: "tools",
        calls: [
          { name: "spelled", input: { chatId: "7" } },
          { name: "spelled", input: { chatId: "7", chat_id: "8" } },
        ],
      };
    if (words.includes("quickly") && results === 0)
      return { kind: "tools", calls: [{ name: "quick", input: { text: "x" } }] };
    return says("answered");
  }

  let world: Awaited<ReturnType<typeof realTools>>;
  beforeAll(async () => {
    const tools = [...offered, make("t_once", {}), slow, quick, spelled];
    world = await realTools({ tools, script, rules: { limits: { t_once: { calls: 1, perMs: 600_000 } } } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test("an agent that does whatever it is told gets nothing done that its caller may not, and every try is on record", async () => {
    const events = await world.turn("attack", guest, "session-attack.jsonl");
    expect(events.at(-1)).toMatchObject({ type: "done" });
    const done = () => effects.filter((name) => name !== "t_once");
    expect(done()).toEqual(["t_free"]);
    // a process that was taken over need not ask pi which tools there are
    for (const name of names) await world.call(name, HOSTILE, { ...OWNER, ...guest });
    expect(done()).toEqual(["t_free", "t_free"]);
    const tries = async () => (await world.rows()).filter(({ turnId }) => turnId === guest.turnId);
    const rows = await eventually("every call has ended", tries, (seen) =>
      seen.every(({ status }) => status !== "pending"),
    );
    expect(new Set(rows.flatMap(({ tool: name, status }) => (status === "success" ? [name] : [])))).toEqual(
      new Set(["t_free"]),
    );
    const rejected = rows.filter(({ status }) => status === "blocked" || status === "error");
    const tried = rejected.map(({ tool: name, userId, origin }) => [name, userId, origin].join(" "));
    const denied = names.filter((name) => name !== "t_free").map((name) => `${name} telegram:user:666 group`);
    expect(denied.filter((line) => !tried.includes(line))).toEqual([]);
    expect(await verifyStoredAudit(world.home)).toMatchObject({ kind: "intact" });
  });

  test("an agent that does whatever it is told is told no in a form that a model can read", async () => {
    await world.turn("do it twice", { ...guest, turnId: "turn_twice" as TurnId }, "session-no.jsonl");
    const told = textOf(world.provider.requests.at(-1)?.messages.at(-1)?.content);
    expect(JSON.parse(told)).toEqual({ status: "blocked", tool: "t_once", reason: expect.stringContaining("t_once") });
  });

  test("an agent may write a parameter in its other spelling, which is renamed once; both at once are refused", async () => {
    await world.turn("spell it", { ...guest, turnId: "turn_spell" as TurnId }, "session-spell.jsonl");
    const spelled = async () => (await world.rows()).filter(({ tool: name }) => name === "spelled");
    const rows = await eventually(
      "both calls have ended",
      spelled,
      (seen) => seen.every(({ status }) => status !== "pending"), // the end of a call is written after its caller was told
    );
    expect(rows.map(({ input, status }) => [input, status])).toContainEqual([{ chat_id: "7" }, "success"]);
    expect(rows.map(({ status }) => status).toSorted()).toEqual(["error", "success"]);
    const told = world.provider.requests.at(-1)?.messages.filter(({ role }) => role === "tool") ?? [];
    expect(textOf(told[0]?.content)).toBe('{"chat_id":"7"}');
  });

  test("a hundred slow calls of one conversation do not keep another from being answered, tools included", async () => {
    let ended = 0;
    const hundred = Array.from({ length: 100 }, async () => {
      await world.call("slow", { text: "x" }, { ...OWNER, ...guest, turnId: "turn_slow" as TurnId });
      ended++;
    });
    const other = {
      ...guest,
      sessionKey: "agent:default:telegram:group:-200" as SessionKey,
      turnId: "turn_2" as TurnId,
    };
    const events = await world.turn("quickly", other, "session-other.jsonl");
    expect([events.at(-1), ended]).toMatchObject([{ type: "done", text: "answered" }, 0]);
    const quick = async () =>
      (await world.rows()).filter(({ turnId, tool: name }) => turnId === "turn_2" && name === "quick");
    const called = await eventually("the quick call has ended", quick, (seen) =>
      seen.every(({ status }) => status !== "pending"),
    );
    expect(called.map(({ status }) => status)).toEqual(["success"]);
    release.resolve();
    await Promise.all(hundred);
    const done = async () =>
      (await world.rows()).filter(({ tool: name, status }) => name === "slow" && status === "success");
    expect((await eventually("a hundred ended calls", done, ({ length }) => length === 100)).length).toBe(100);
  });
});

describe("kill -9 in the middle of a tool", () => {
  const ROUNDS = 5;
  const effectsOf = (home: string, callId: string): number =>
    readFileSync(join(home, EFFECTS_FILE), "utf8")
      .split("\n")
      .filter((line) => line === callId).length;

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
      expect(await callTool({ ...options, how: "end" })).toMatchObject({ kind: "refused", code: "outcome_unknown" });
      expect(effectsOf(home.path, options.callId)).toBe(1);
    }
    await using store = await openStore(
      { clock: systemClock, ids: systemIds, log: silentLog },
      { home: home.path, url: await storeUrlOf(home.path) },
    );
    const { items } = await store.toolCalls.list({ status: "unknown" }, { limit: 50 });
    expect(items.length).toBe(ROUNDS);
    expect((await verifyStoredAudit(home.path)).findings).toEqual([]);
  });

  test("is followed by another try where the tool says that it may", async () => {
    await using home = await tempHome();
    const options = { home: home.path, callId: "again", idempotent: true } as const;
    await killInTool({ ...options, how: "hang" });
    expect(await callTool({ ...options, how: "end" })).toEqual({ kind: "ok", result: result("done") });
    expect(await callTool({ ...options, how: "end" })).toEqual({ kind: "ok", result: result("done") });
    expect(effectsOf(home.path, "again")).toBe(2);
  });
});
