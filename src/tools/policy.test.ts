/** Who may use which tool from where, row by row: lists, flags, origins. The same decision is behind what is offered and what is called. */
import { describe, expect, test } from "bun:test";
import type { Caller } from "../contracts/agent.ts";
import type { AgentId, SessionKey } from "../contracts/ids.ts";
import { NO_TURN, type Tool, type ToolFlags } from "../contracts/tools/tool.ts";
import { NO_MASK } from "../kit/secret.ts";
import { MEMBER, OWNER, policy, PROGRAM, says, tool, toolWorld } from "../testing/tools/tool-world.ts";
import { originOf } from "./origin.ts";
import { limitOf, mayUse, needsApproval, type ToolPolicy } from "./policy.ts";

const GUEST: Caller = { ...MEMBER, role: "guest" };
const inSession = (sessionKey: string, caller: Caller = OWNER): Caller => ({
  ...caller,
  sessionKey: sessionKey as SessionKey,
});
const inGroup = inSession("agent:default:telegram:group:-100");
const byCron = inSession("agent:default:cron:report:run:1");
const delegatedBy = (askedBy: Caller): Caller => ({
  ...inSession("agent:helper:delegate:turn:c1"),
  origin: { channel: "delegate", account: "default", chat: "turn" },
  askedBy,
});

describe("where a call begins", () => {
  test.each([
    ["agent:default:webchat:dm:42", "chat"],
    ["agent:default:api:dm:operator", "chat"],
    ["agent:default:main", "chat"],
    ["agent:default:dm:group", "chat"],
    ["agent:default:api:dm:group", "chat"],
    ["agent:default:telegram:group:-100", "group"],
    ["agent:default:telegram:group:-100:topic:5", "group"],
    ["agent:default:telegram:bot2:group:-100", "group"],
    ["agent:default:telegram:bot2:dm:group", "chat"],
    ["agent:default:cron:daily", "cron"],
    ["agent:default:cron:daily:run:7", "cron"],
    ["agent:default:hook:build", "webhook"],
    ["agent:default:heartbeat:dm:x", "heartbeat"],
  ])("in %s is %s", (sessionKey, origin) => {
    expect(originOf(inSession(sessionKey))).toBe(origin as never);
  });

  test.each(["cron", "heartbeat", "webhook"] as const)("is %s where that is what began the turn of a chat", (cause) => {
    expect(originOf({ ...OWNER, cause })).toBe(cause);
    expect(originOf({ ...OWNER, cause: "chat" })).toBe("chat");
  });

  test("is the API when there is no turn, and MCP or another agent where the gateway says so", () => {
    const over = (channel: string, turnId = OWNER.turnId) =>
      originOf({ ...OWNER, turnId, origin: { channel, account: "a", chat: "c" } });
    expect([originOf(PROGRAM), over("mcp", NO_TURN), over("delegate"), over("telegram")]).toEqual([
      "api",
      "mcp",
      "delegate",
      "chat",
    ]);
  });
});

type Case = readonly [
  what: string,
  flags: Partial<ToolFlags>,
  caller: Caller,
  rules: Partial<ToolPolicy>,
  may: boolean,
];

const LISTS: readonly Case[] = [
  ["everything is allowed by default", {}, OWNER, {}, true],
  ["an empty list is nobody's", {}, OWNER, { allow: [] }, false],
  ["a list names it", {}, OWNER, { allow: ["echo"] }, true],
  ["a list names the beginning of it", {}, OWNER, { allow: ["ec*"] }, true],
  ["a list names others", {}, OWNER, { allow: ["other", "echoes*"] }, false],
  ["deny wins over allow", {}, OWNER, { allow: ["echo"], deny: ["echo"] }, false],
  ["a role's list is narrower", {}, MEMBER, { roles: { member: { allow: ["other"] } } }, false],
  ["another role's list does not count", {}, OWNER, { roles: { member: { allow: ["other"] } } }, true],
  ["a role cannot widen", {}, MEMBER, { allow: ["other"], roles: { member: { allow: ["echo"] } } }, false],
  ["an origin denies", {}, inGroup, { origins: { group: { deny: ["*"] } } }, false],
  ["another origin denies", {}, OWNER, { origins: { group: { deny: ["*"] } } }, true],
  [
    "an origin denies, whoever is asked to do it",
    {},
    delegatedBy(byCron),
    { origins: { cron: { deny: ["echo"] } } },
    false,
  ],
  [
    "an origin denies, however far away",
    {},
    delegatedBy(delegatedBy(inGroup)),
    { origins: { group: { deny: ["*"] } } },
    false,
  ],
  ["another agent is asked", {}, delegatedBy(OWNER), { origins: { group: { deny: ["*"] } } }, true],
  ["asking is denied as such", {}, delegatedBy(OWNER), { origins: { delegate: { deny: ["echo"] } } }, false],
  ["a key's list names it", {}, MEMBER, { keyTools: () => ["echo"] }, true],
  ["a key's list names others", {}, MEMBER, { keyTools: () => ["other"] }, false],
  ["a key has no tools", {}, OWNER, { keyTools: () => [] }, false],
  ["a key cannot widen", {}, MEMBER, { allow: ["other"], keyTools: () => ["*"] }, false],
  ["a key's list switches nothing on", { optional: true }, MEMBER, { keyTools: () => ["echo"] }, false],
  ["no key calls", {}, MEMBER, { keyTools: () => undefined }, true],
  ["an agent's list is narrower", {}, OWNER, { agents: { default: { allow: [] } } }, false],
  [
    "an agent called like a part of every object has no list",
    {},
    { ...OWNER, agentId: "constructor" as AgentId },
    {},
    true,
  ],
  ["a person's list denies", {}, MEMBER, { principals: { "telegram:user:7": { deny: ["echo"] } } }, false],
  ["a person's list is narrower", {}, MEMBER, { principals: { "telegram:user:7": { allow: ["other"] } } }, false],
  ["another person's list does not count", {}, OWNER, { principals: { "telegram:user:7": { deny: ["*"] } } }, true],
  [
    "a person cannot widen",
    {},
    MEMBER,
    { deny: ["echo"], principals: { "telegram:user:7": { allow: ["echo"] } } },
    false,
  ],
  [
    "optional, named for a person",
    { optional: true },
    MEMBER,
    { principals: { "telegram:user:7": { allow: ["echo"] } } },
    true,
  ],
  ["a profile that is a list names it", {}, OWNER, { profile: () => ["echo"] }, true],
  ["a profile that is a list does not name it", {}, OWNER, { profile: () => ["read"] }, false],
];

const FLAGS: readonly Case[] = [
  ["ownerOnly, an owner", { ownerOnly: true }, OWNER, {}, true],
  ["ownerOnly, a member", { ownerOnly: true }, MEMBER, {}, false],
  ["ownerOnly, a member with a list", { ownerOnly: true }, MEMBER, { roles: { member: { allow: ["echo"] } } }, false],
  ["ownerOnly, an owner in a group", { ownerOnly: true }, inGroup, {}, false],
  ["ownerOnly, an owner's job", { ownerOnly: true }, byCron, {}, false],
  [
    "ownerOnly, an owner's job that is granted it",
    { ownerOnly: true },
    byCron,
    { origins: { cron: { allow: ["echo"] } } },
    true,
  ],
  [
    "ownerOnly, an owner's job with everything granted",
    { ownerOnly: true },
    byCron,
    { origins: { cron: { allow: ["*"] } } },
    false,
  ],
  [
    "ownerOnly, granted to those who are asked, but not to the job that asks",
    { ownerOnly: true },
    delegatedBy(byCron),
    { origins: { delegate: { allow: ["echo"] } } },
    false,
  ],
  [
    "ownerOnly, granted to those who are asked by an owner",
    { ownerOnly: true },
    delegatedBy(OWNER),
    { origins: { delegate: { allow: ["echo"] } } },
    true,
  ],
  ["ownerOnly, over the API", { ownerOnly: true }, PROGRAM, {}, true],
  ["optional, not named", { optional: true }, OWNER, {}, false],
  ["optional, all named", { optional: true }, OWNER, { allow: ["*"] }, false],
  ["optional, named", { optional: true }, OWNER, { allow: ["*", "echo"] }, true],
  ["workspaceOnly, an owner", { workspaceOnly: true }, OWNER, {}, true],
  ["workspaceOnly, a member", { workspaceOnly: true }, MEMBER, {}, false],
  [
    "workspaceOnly, a member whose role has it",
    { workspaceOnly: true },
    MEMBER,
    { roles: { member: { allow: ["echo"] } } },
    true,
  ],
  ["workspaceOnly, no agent", { workspaceOnly: true }, PROGRAM, {}, false],
  ["pty, an owner", { pty: true }, OWNER, {}, true],
  ["pty, a member", { pty: true }, MEMBER, {}, false],
  ["elevated, an owner", { elevated: true }, OWNER, {}, true],
  ["elevated, a guest", { elevated: true }, GUEST, {}, false],
  ["elevated, an owner in a group", { elevated: true }, inGroup, {}, false],
];

test.each([...LISTS, ...FLAGS])("%s", async (...row) => {
  const [, flags, caller, rules, may] = row;
  const made = tool(async () => says("done"), { flags: { idempotent: true, ...flags } });
  const world = toolWorld([made]);
  world.rules.now = policy(rules);
  world.approvals.answer = "once";
  const { because, may: verdict } = mayUse(made, caller, world.rules.now);
  expect([verdict, because.length > 5]).toEqual([may, true]);
  expect(world.gate.specs(caller).map(({ name }) => name)).toEqual(may ? ["echo"] : []);
  const context = { ...OWNER, ...caller };
  expect((await world.call({ text: "x" }, { context })).kind).toBe(may ? "ok" : "refused");
});

test("a tool for owners whose author names where it may be called may be called there, also where nobody sits", () => {
  const flags = { idempotent: true, elevated: true };
  const own = tool(async () => says(""), { flags, origins: ["cron"] });
  expect(mayUse(own, byCron, policy()).may).toBe(true);
  expect(
    mayUse(
      tool(async () => says(""), { flags }),
      byCron,
      policy(),
    ).may,
  ).toBe(false);
});

test("before anybody is served the lists of the gateway count, and nothing else", () => {
  const world = toolWorld([tool(async () => says("")), tool(async () => says(""), { name: "other" })]);
  world.rules.now = policy({ deny: ["other"] });
  expect(world.gate.specs(null).map(({ name }) => name)).toEqual(["echo"]);
});

test.each(["agents", "principals"] as const)("names that every object has are no entries of tools.%s", (lists) => {
  const made = Object.create({ sly: { deny: ["echo"] } }) as ToolPolicy["agents"];
  const caller = { ...OWNER, agentId: "sly" as AgentId, principal: "sly" as typeof OWNER.principal };
  expect(
    mayUse(
      tool(async () => says("")),
      caller,
      policy({ [lists]: made }),
    ).may,
  ).toBe(true);
});

test("a tool's own origins count for everybody", () => {
  const made: Tool = { ...tool(async () => says("")), origins: ["chat"] };
  expect([OWNER, inGroup, PROGRAM].map((caller) => mayUse(made, caller, policy()).may)).toEqual([true, false, false]);
});

test.each([
  [{ elevated: true }, {}, true],
  [{ pty: true }, {}, true],
  [{ ownerOnly: true }, {}, false],
  [{}, {}, false],
  [{}, { approval: true }, true],
] as const)("flags %p with %p wait for the owner's word: %p", (flags, over, asks) => {
  const made = { ...tool(async () => says("")), flags: { idempotent: true, ...flags }, ...over };
  expect(needsApproval(made, policy()) !== null).toBe(asks);
  expect(needsApproval(made, policy({ approvals: { ask: ["echo"], never: [] } }))).not.toBeNull();
  expect(needsApproval(made, policy({ approvals: { ask: ["*"], never: ["echo"] } }))).toBeNull();
});

test("a tool that no owner knows in this form waits for the owner's word, whatever the lists say", () => {
  const made = { ...tool(async () => says("")), review: { because: "it has changed", accepted: () => undefined } };
  expect(needsApproval(made, policy({ approvals: { ask: [], never: ["*"] } }))).toBe("it has changed");
});

test("a configured limit counts instead of the tool's own, and keeps whether it is durable", () => {
  const made = { ...tool(async () => says("")), limit: { calls: 10, perMs: 60_000, durable: true } };
  const limits = { echo: { calls: 2, perMs: 1_000 } };
  expect(limitOf(made, policy({ limits }))).toEqual({ calls: 2, perMs: 1_000, durable: true });
  expect(limitOf(made, policy())).toEqual({ calls: 10, perMs: 60_000, durable: true });
  expect(
    limitOf(
      tool(async () => says("")),
      policy(),
    ),
  ).toEqual({ calls: 6_000, perMs: 60_000, durable: false });
});

describe("pi tools", () => {
  const never = new AbortController().signal;
  const ask = (world: ReturnType<typeof toolWorld>, name: string, context = OWNER) =>
    world.gate.admit(
      { tool: name, callId: `${name}-${context.role}`, params: { path: "a" }, path: "pi", context },
      never,
    );

  test.each([
    ["chat", "read", "refused"],
    ["chat", "bash", "refused"],
    ["workspace", "read", "go"],
    ["workspace", "Read", "go"],
    ["workspace", "edit", "go"],
    ["files", "read", "go"],
    ["files", "bash", "refused"],
    ["workspace", "bash", "go"],
    ["full", "bash", "refused"], // the owner says no
    ["full", "unheard_of", "refused"],
  ] as const)("with the profile %s, %s is answered with %s", async (profile, name, kind) => {
    const world = toolWorld([]);
    world.rules.now = policy({ profile: () => profile });
    expect((await ask(world, name)).kind).toBe(kind);
    expect(world.rows.length).toBe(1);
  });

  test("bash runs when the owner agrees, and only for owners", async () => {
    const world = toolWorld([]);
    world.rules.now = policy({ profile: () => "full" });
    world.approvals.answer = "once";
    expect((await ask(world, "bash")).kind).toBe("go");
    expect((await ask(world, "bash", MEMBER)).kind).toBe("refused");
    expect(world.approvals.asked.length).toBe(1);
  });

  test("are written down before and after, and hooks may change both sides", async () => {
    const world = toolWorld([]);
    world.rules.now = policy({ profile: () => "workspace" });
    world.hooks.on("before_tool_call", () => ({ params: { path: "b" } }), "p");
    world.hooks.on("tool_result_persist", ({ output }) => ({ output: output.replace("x", "y") }), "p");
    const admitted = await ask(world, "read");
    if (admitted.kind !== "go") throw new Error("not admitted");
    expect([admitted.params, world.last()?.end]).toEqual([{ path: "b" }, null]);
    expect(admitted.checksKept).toBe(true);
    expect(await admitted.ended({ isError: false, output: "x s3cret-value" })).toEqual({ kept: "y s3cret-value" });
    expect(world.last()?.end).toMatchObject({ status: "success", output: "y [redacted]" });
    expect((await ask(world, "read")).kind).toBe("refused"); // its id has been used
  });

  test("are told of like others: that they began, how much they say, ten times a second at most, and that they ended", async () => {
    const world = toolWorld([]);
    world.rules.now = policy({ profile: () => "workspace" });
    const told: unknown[] = [];
    for (const name of ["tool_execution_start", "tool_execution_update", "tool_execution_end"] as const)
      world.events.on(name, (event) => void told.push([name, "chars" in event ? event.chars : event.tool]));
    const admitted = await ask(world, "read");
    if (admitted.kind !== "go") throw new Error("not admitted");
    for (const chars of [1, 2, 3]) admitted.updated(chars);
    await world.clock.advance(100);
    admitted.updated(4);
    await admitted.ended({ isError: false, output: "x" });
    await world.clock.advance(100);
    admitted.updated(5);
    expect(told).toEqual([
      ["tool_execution_start", "read"],
      ["tool_execution_update", 1],
      ["tool_execution_update", 4],
      ["tool_execution_end", "read"],
    ]);
  });

  test("are told of with their parameters and results, also when they are refused", async () => {
    const world = toolWorld([], {
      mask: { ...NO_MASK, text: (text) => text.replaceAll("s3cret-value", "[redacted]") },
    });
    world.rules.now = policy({ profile: () => "files" });
    const ends: unknown[] = [];
    world.events.on("tool_execution_end", (event) => void ends.push(event));
    const admitted = await ask(world, "read");
    if (admitted.kind !== "go") throw new Error("not admitted");
    await admitted.ended({ isError: false, output: "x s3cret-value" });
    await ask(world, "bash");
    const result = { content: [{ type: "text", text: "x [redacted]" }] };
    expect(ends).toMatchObject([
      { tool: "read", status: "success", params: admitted.params, result, error: null },
      { tool: "bash", status: "blocked", result: null, error: expect.any(String) as string },
    ]);
  });

  test("that reach beyond their workspace wait for an owner, by the parameters that plugins left, unless the owner answers for them", async () => {
    const world = toolWorld([]);
    world.rules.now = policy({ profile: () => "workspace" });
    world.hooks.on("before_tool_call", () => ({ params: { path: "/granted/a" } }), "mover");
    const asks = (params: unknown) =>
      JSON.stringify(params).includes("granted") ? { because: "it changes /granted", folder: "/granted" } : null;
    const write = (callId: string) =>
      world.gate.admit({ tool: "write", callId, params: { path: "a" }, path: "pi", context: OWNER, asks }, never);
    expect(await write("first")).toMatchObject({ kind: "refused", code: "approval_denied" });
    expect(world.approvals.asked).toMatchObject([{ because: "it changes /granted", covers: "write /granted" }]);
    world.rules.now = policy({ profile: () => "workspace", approvals: { ask: [], never: ["write"] } });
    expect(await write("second")).toMatchObject({ kind: "go" });
    expect(world.approvals.asked).toHaveLength(1);
  });

  test("whose turn ends in the middle get an end in the record", async () => {
    const world = toolWorld([]);
    world.rules.now = policy({ profile: () => "workspace" });
    const turn = new AbortController();
    await world.gate.admit({ tool: "read", callId: "c", params: {}, path: "pi", context: OWNER }, turn.signal);
    turn.abort();
    await world.clock.advance(1);
    expect(world.last()?.end?.status).toBe("error");
  });
});

describe("a tool for owners, where nobody sits who knows that it is the owner who speaks", () => {
  const from = (channel: string): Caller => ({ ...OWNER, origin: { channel, account: "default", chat: "x" } });
  const callers = {
    group: inGroup,
    cron: from("cron"),
    heartbeat: from("heartbeat"),
    webhook: from("hook"),
    delegate: delegatedBy(OWNER),
    mcp: from("mcp"),
  } as const;

  test.each(Object.keys(callers) as (keyof typeof callers)[])(
    "is not for a call from %s without a grant, and is with one",
    (origin) => {
      for (const flag of ["ownerOnly", "elevated", "pty"] as const) {
        const guarded = tool(async () => says("x"), { flags: { idempotent: true, [flag]: true } });
        const because = `it is for owners, and tools.origins.${origin}.allow does not name it`;
        expect(mayUse(guarded, callers[origin], policy())).toEqual({ may: false, because });
        const granted = policy({ origins: { [origin]: { allow: ["echo"] } } });
        expect(mayUse(guarded, callers[origin], granted).may).toBe(true);
      }
    },
  );

  test("is not run for a delegated turn without a grant", async () => {
    const ran: string[] = [];
    const world = toolWorld([
      tool(
        async (callId) => {
          ran.push(callId);
          return says("x");
        },
        { flags: { idempotent: true, ownerOnly: true } },
      ),
    ]);
    const context = { ...OWNER, ...delegatedBy(OWNER) };
    expect(await world.call({ text: "x" }, { context })).toMatchObject({ kind: "refused", code: "not_allowed" });
    expect(ran).toEqual([]);
    expect(world.gate.specs(context)).toEqual([]);
  });
});

test.each([
  [undefined, "chat"],
  ["chat", "chat"],
  ["reaction", "chat"],
  ["cron", "cron"],
  ["heartbeat", "heartbeat"],
] as const)("a turn that was caused by %p has its beginning in %s", (cause, origin) => {
  expect(originOf({ ...OWNER, ...(cause === undefined ? {} : { cause }) })).toBe(origin);
});

test("a tool with the name of something that every object has has the general limit", () => {
  expect(limitOf({ name: "constructor", flags: { idempotent: true } }, policy())).toEqual({
    calls: 6_000,
    perMs: 60_000,
    durable: false,
  });
});
