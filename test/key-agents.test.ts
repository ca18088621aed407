/**
 * A key for one agent at a whole gateway, in every way there is to ask it: routes, methods of the socket, methods of MCP, tools and commands. It
 * reads, lists, answers and cancels nothing of another agent. A new route, method or tool without an answer here fails.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import type { ApiKey } from "../src/contracts/api-keys.ts";
import type { OpenQuestion } from "../src/contracts/channels/question.ts";
import type { PendingApproval } from "../src/contracts/tools/approval.ts";
import type { WireMethods } from "../src/contracts/wire.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { startHttpWorld } from "../src/testing/http/http-fixture.ts";
import { tableOf } from "../src/testing/http/table-of.ts";
import { mcpClient } from "../src/testing/http/test-mcp-door.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { ASKING_EXTENSION } from "./asking-extension.ts";
import { asked, endpoint, eventually, openSocket, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** In everything that is said or named in the other agent. */
const MARK = "umbrella";
/** In a note of the operator, which belongs to a person and to no agent. */
const NOTE = "parasol";
const OTHER = "agent:bravo:api:dm:";
const JSON_TYPE = { "content-type": "application/json" };

let home: TempHome;
let provider: FakeProvider;
let gateway: GatewayProcess;
let facts: Facts;

/** Things of the other agent, each by the name under which it is asked for. */
interface Facts {
  readonly session: string;
  readonly turn: string;
  readonly media: string;
  readonly response: string;
  /** Of a response that runs in the background. */
  readonly running: string;
  readonly approval: string;
  readonly question: string;
  /** A message that waits behind the question. */
  readonly waiting: string;
  readonly note: string;
  readonly job: string;
}

beforeAll(async () => {
  home = await tempHome();
  const extension = join(home.path, "asking.ts");
  await writeFile(extension, ASKING_EXTENSION);
  provider = await startFakeProvider((request) => {
    const words = asked(request);
    if (request.messages.at(-1)?.role === "tool") return says("that is all");
    if (words.includes("wait")) return { kind: "hang" };
    if (words.includes("plant"))
      return { kind: "tools", calls: [{ name: "add_task", input: { title: `${MARK} plant` } }] };
    if (words.includes("ask")) return { kind: "tools", calls: [{ name: "ask_choice", input: {} }] };
    return says(words.includes(MARK) ? `an ${MARK} it is` : "fine");
  });
  const { agent, models } = endpoint(provider);
  gateway = await startGatewayProcess({
    home: home.path,
    config: {
      models,
      agent: { ...agent, pool: { min: 0, max: 6 } },
      agents: [
        { id: "alpha", description: "one" },
        { id: "bravo", description: "another", extensions: [extension], tools: ["ask_choice", "add_task"] },
      ],
      tools: { approvals: { ask: ["add_task"], never: ["ask_choice"] }, origins: { mcp: { allow: ["*"] } } },
      gateway: { stopGraceMs: 100 }, // turns wait for answers that nobody gives
    },
  });
  facts = await fill();
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const operator = async <T>(method: string, path: string, body?: object): Promise<T> => {
  const init = body === undefined ? { method } : { method, headers: JSON_TYPE, body: JSON.stringify(body) };
  const response = await gateway.fetch(path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
  return JSON.parse(text) as T;
};
const firstOf = <T>(path: string) =>
  eventually(
    `an entry of ${path}`,
    async () => (await operator<{ items: readonly T[] }>("GET", path)).items[0],
    (item) => item !== undefined,
  ) as Promise<T>;

/** The operator works with the other agent, in every way there is. */
async function fill(): Promise<Facts> {
  const named = { agent: "bravo" };
  const upload = { method: "POST", headers: { "content-type": "text/plain" }, body: `${MARK} file` };
  const { mediaId } = (await (await gateway.fetch(`/api/media?name=${MARK}.txt`, upload)).json()) as {
    mediaId: string;
  };
  const { body } = await gateway.chat(`about an ${MARK}`, { ...named, session: "plans" });
  const v1 = { model: "pi-gateway/bravo", store: true };
  const stored = await operator<{ id: string }>("POST", "/v1/responses", { ...v1, input: `an ${MARK}` });
  const later = { ...v1, input: `wait for the ${MARK}`, background: true };
  const running = await operator<{ id: string }>("POST", "/v1/responses", later);
  const socket = await openSocket(gateway, null);
  const send = (session: string, text: string, clientId: string) =>
    socket.request("chat.send", { session: `${OTHER}${session}`, text, clientId }) as Promise<{ accepted: string }>;
  await send("plants", `plant an ${MARK}`, "c1");
  const approval = await firstOf<PendingApproval>("/api/approvals");
  await send("asks", `ask about the ${MARK}`, "c2");
  const question = await firstOf<OpenQuestion>("/api/questions");
  const { accepted } = await send("asks", `and one more ${MARK}`, "c3");
  socket.close();
  const saved = { tool: "save_note", params: { title: NOTE, content: NOTE } };
  const { result } = await operator<{ result: { details: { note_id: string } } }>("POST", "/api/tools/call", saved);
  const job = { id: "rain", schedule: { kind: "every", expr: "1d" }, task: MARK, agentId: "bravo" };
  await operator("POST", "/api/cron/jobs", job);
  return {
    session: `${OTHER}plans`,
    turn: String(body.turnId),
    media: mediaId,
    response: stored.id,
    running: running.id,
    approval: approval.id,
    question: question.id,
    waiting: accepted,
    note: result.details.note_id,
    job: "rain",
  };
}

interface Program {
  readonly secret: string;
  readonly key: ApiKey;
}

async function program(scopes: readonly string[], agents: readonly string[]): Promise<Program> {
  return operator("POST", "/api/keys", { name: "a program", scopes, agents });
}

/** Both kinds of key: `default` is the agent that the gateway itself names where it has to name one. */
const KEYS = [
  ["every scope, for the default agent", ["chat", "tools", "read", "admin"], ["default"]],
  ["every scope but admin, for an agent of its own", ["chat", "tools", "read"], ["alpha"]],
] as const;

type Probe = readonly [path: string, body?: object];
type Probes = (of: Facts) => readonly Probe[];
/** Nothing of an agent is named or listed, and nothing is answered. */
const NOTHING: Probes = () => [];

const sessionPath = (of: Facts, rest = ""): string => `/api/sessions/${encodeURIComponent(of.session)}${rest}`;

/** Every route that is not about the whole gateway. Those that are need a key for all agents. */
const ROUTES: Readonly<Record<string, Probes>> = {
  "DELETE /api/sessions/:key": (of) => [[sessionPath(of)]],
  "DELETE /mcp": NOTHING, // a session of a client, by its own id
  "DELETE /v1/responses/:id": (of) => [[`/v1/responses/${of.response}`], [`/v1/responses/${of.running}`]],
  "GET /api/questions": () => [["/api/questions"]],
  "GET /api/search": (of) => [
    [`/api/search?q=${MARK}`],
    [`/api/search?q=${MARK}&session=${encodeURIComponent(of.session)}`],
    [`/api/search?q=${MARK}&channel=api&limit=100`],
  ],
  "GET /api/sessions": () => [
    ["/api/sessions"],
    [`/api/sessions?search=${MARK}`],
    ["/api/sessions?channel=api&limit=100"],
  ],
  "GET /api/sessions/:key": (of) => [[sessionPath(of)]],
  "GET /api/sessions/:key/export": (of) => [[sessionPath(of, "/export")], [sessionPath(of, "/export?format=json")]],
  "GET /api/sessions/:key/transcript": (of) => [[sessionPath(of, "/transcript")]],
  "GET /api/tool-calls": () => [["/api/tool-calls"], [`/api/tool-calls?session=${OTHER}plants`]],
  "GET /api/tools": () => [["/api/tools"]],
  "GET /api/turns": (of) => [["/api/turns"], [`/api/turns?session=${of.session}`]],
  "GET /api/turns/:id": (of) => [[`/api/turns/${of.turn}`]],
  "GET /mcp": NOTHING,
  "GET /v1/models": () => [["/v1/models"]],
  "GET /v1/models/:id": () => [["/v1/models/pi-gateway%2Fbravo"]],
  "GET /v1/models/:owner/:agent": () => [["/v1/models/pi-gateway/bravo"]],
  "GET /v1/responses": NOTHING, // a socket, whose requests are those of POST
  "GET /v1/responses/:id": (of) => [[`/v1/responses/${of.response}`], [`/v1/responses/${of.running}?stream=true`]],
  "GET /ws": NOTHING, // the methods below
  "PATCH /api/messages/:id": (of) => [[`/api/messages/${of.waiting}`, { text: "changed" }]],
  "PATCH /api/sessions/:key": (of) => [
    [sessionPath(of), { name: "changed" }],
    [sessionPath(of), { pinned: true, archived: true }],
  ],
  "POST /api/chat": (of) => [
    ["/api/chat", { text: "hi", agent: "bravo" }],
    ["/api/chat", { text: "hi", session: of.session }],
    ["/api/chat", { text: "hi", attachments: [{ mediaId: of.media }] }],
  ],
  "POST /api/media": NOTHING,
  "POST /api/messages/:id/cancel": (of) => [[`/api/messages/${of.waiting}/cancel`]],
  "POST /api/questions/:id": (of) => [[`/api/questions/${of.question}`, { answer: "tea" }]],
  "POST /api/sessions/:key/abort": () => [[`/api/sessions/${encodeURIComponent(`${OTHER}asks`)}/abort`]],
  "POST /api/sessions/:key/branch": (of) => [[sessionPath(of, "/branch"), {}]],
  "POST /api/sessions/:key/resend": (of) => [[sessionPath(of, "/resend"), { message: "msg_none" }]],
  "POST /api/sessions/:key/model": (of) => [[sessionPath(of, "/model"), { model: "fake/fake-2" }]],
  "POST /api/sessions/:key/reset": (of) => [[sessionPath(of, "/reset")]],
  "POST /api/tools/call": (of) => [
    ["/api/tools/call", { tool: "session_status", params: { sessionKey: of.session } }],
    ["/api/tools/call", { tool: "cron", params: { action: "list" } }],
    ["/api/tools/call", { tool: "cron", params: { action: "remove", id: of.job } }],
    ["/api/tools/call", { tool: "list_tasks", params: { status: "all" } }],
  ],
  "POST /mcp": NOTHING, // the methods below
  "POST /v1/chat/completions": (of) => {
    const messages = [{ role: "user", content: "hi" }];
    return [
      ["/v1/chat/completions", { model: "pi-gateway/bravo", messages }],
      ["/v1/chat/completions", { model: "pi-gateway", messages, user: of.session }],
    ];
  },
  "POST /v1/responses": (of) => [
    ["/v1/responses", { model: "pi-gateway/bravo", input: "hi" }],
    ["/v1/responses", { model: "pi-gateway", input: "hi", previous_response_id: of.response }],
  ],
  "POST /v1/responses/:id/cancel": (of) => [[`/v1/responses/${of.running}/cancel`]],
  "POST /v1/responses/compact": (of) => [
    ["/v1/responses/compact", { model: "pi-gateway/bravo", input: "hi" }],
    ["/v1/responses/compact", { model: "pi-gateway", previous_response_id: of.response }],
  ],
};

/** Rows whose answer may be a good one: what is in it counts. Every other one that is not a GET has to be refused. */
const ANSWERED = [
  "POST /api/tools/call",
  "POST /v1/chat/completions", // `user` is any text, and names a session of the key
];

test("the operator is shown everything that keys are tested against", async () => {
  const rows = Object.entries(ROUTES).filter(([row]) => row.startsWith("GET "));
  const paths = rows.flatMap(([, probes]) => probes(facts).map(([path]) => path));
  for (const path of paths.filter((one) => !one.endsWith("stream=true"))) {
    const response = await gateway.fetch(path);
    expect([path, response.status, leakIn(await response.text(), false)]).toEqual([path, 200, true]);
  }
  const client = await mcpClient({ url: gateway.url, token: gateway.token, revision: "2026-07-28" });
  for (const [what, ask] of mcpProbes(client).filter(([method]) =>
    /^resources\/(?:list|read)|^completion/.test(method),
  ))
    expect([what, await ask()]).toEqual([what, expect.anything()]);
  await client.close();
});

/** What shows something of the other agent. A refusal may name it, because the key has named it. */
function leakIn(text: string, isRefusal: boolean): boolean {
  return text.includes(MARK) || (!isRefusal && /bravo/.test(text));
}

function around(text: string): string {
  const at = text.search(new RegExp(`${MARK}|bravo`));
  return text.slice(Math.max(0, at - 80), at + 80);
}

describe.each(KEYS)("a key with %s,", (_which, scopes, agents) => {
  let key: Program;
  const call = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key.secret}`, ...(body === undefined ? {} : JSON_TYPE) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  beforeAll(async () => {
    key = await program(scopes, agents);
  });

  test("gets nothing of another agent from any route", async () => {
    await using world = startHttpWorld();
    const leaks: unknown[] = [];
    // what is read comes first: later the audit log has the calls of the key itself, with what they named
    const known = tableOf(world).filter(({ auth }) => auth === "operator" || auth === "agent");
    const rows = known.sort((one, other) => (one.method < other.method ? -1 : 1));
    for (const { method, path, scope } of rows) {
      const row = `${method} ${path}`;
      const isForAll = scope !== "open" && scope.agents === "all";
      const probes = isForAll ? [[path.replaceAll(/:\w+/g, "some-name")] as const] : ROUTES[row]?.(facts);
      expect([row, probes !== undefined]).toEqual([row, true]);
      for (const [at, body] of probes ?? []) {
        const response = await call(method, at, body);
        const text = await response.text();
        const isTaken = response.ok && method !== "GET" && !ANSWERED.includes(row);
        if (isForAll ? response.status !== 403 : isTaken || leakIn(text, !response.ok))
          leaks.push([row, at, around(text)]);
      }
    }
    expect(leaks).toEqual([]);
    expect(Object.keys(ROUTES).filter((row) => !rows.some((one) => `${one.method} ${one.path}` === row))).toEqual([]);
  });

  test("gets nothing of another agent from any method of the socket", async () => {
    const socket = await openSocket({ url: gateway.url, token: key.secret }, null);
    const leaks: unknown[] = [];
    const calls = Object.entries(methodsFor(facts)).flatMap(([method, given]) =>
      [given].flat().map((params: object) => [method, params] as const),
    );
    for (const [method, params] of calls) {
      const [text, isRefusal] = await socket.request(method, params).then(
        (result) => [JSON.stringify(result), false] as const,
        (error: unknown) => [String(error), true] as const,
      );
      if (leakIn(text, isRefusal)) leaks.push([method, around(text)]);
    }
    await gateway.chat(`one more ${MARK}`, { agent: "bravo", session: "plans" });
    await call("POST", "/api/chat", { text: "hello" });
    await socket.until("the end of its own turn", (events) => events.some(({ event }) => event === "turn.ended"));
    socket.close();
    expect([leaks, socket.events.filter((event) => leakIn(JSON.stringify(event), false))]).toEqual([[], []]);
  });

  test("gets nothing of another agent from any method, tool or prompt of MCP, and approves no call of its own", async () => {
    const shown: string[] = [];
    const client = await mcpClient(
      { url: gateway.url, token: key.secret, revision: "2026-07-28" },
      { capabilities: { elicitation: {} } },
    );
    client.setRequestHandler("elicitation/create", ({ params }) => {
      shown.push(JSON.stringify(params));
      return { action: "accept", content: { decision: "Allow once" } };
    });
    const leaks: unknown[] = [];
    for (const [what, ask] of mcpProbes(client)) {
      const [text, isRefusal] = await ask().then(
        (result) => [JSON.stringify(result), (result as { isError?: boolean }).isError === true] as const,
        (error: unknown) => [String(error), true] as const,
      );
      if (leakIn(text, isRefusal) || (what === "resources/read" && !isRefusal)) leaks.push([what, around(text)]);
    }
    expect(leaks).toEqual([]);
    expect(await approvedByItself(client)).toBe(false);
    expect(shown).toEqual([]);
    await client.close();
  });

  test.each(["2025-11-25", "2026-07-28"] as const)(
    "is told of no transcript of another agent that it has subscribed to in MCP %s",
    async (revision) => {
      const [agent] = agents;
      const own = `agent:${agent}:api:dm:${key.key.id}.heard`;
      const uris = [facts.session, own].map((session) => `pi-gateway://sessions/${encodeURIComponent(session)}`);
      const told: string[] = [];
      const client = await mcpClient({ url: gateway.url, token: key.secret, revision });
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
      if (revision === "2026-07-28") await client.listen({ resourceSubscriptions: uris });
      else for (const uri of uris) await client.subscribeResource({ uri });
      await gateway.chat(`and another ${MARK}`, { agent: "bravo", session: "plans" });
      await call("POST", "/api/chat", { text: "hello", session: "heard" });
      await eventually(
        "news of its own transcript",
        () => told,
        () => told.includes(uris[1] ?? ""),
      );
      await client.close();
      expect(told).not.toContain(uris[0]);
    },
  );

  test("changes nothing of another agent by anything that it asks for here", async () => {
    const { items: approvals } = await operator<{ items: PendingApproval[] }>("GET", "/api/approvals");
    expect(approvals.map(({ id }) => id)).toContain(facts.approval);
    const { items: questions } = await operator<{ items: OpenQuestion[] }>("GET", "/api/questions");
    expect(questions.map(({ id }) => id)).toContain(facts.question);
    expect(await operator("GET", `/v1/responses/${facts.running}`)).toMatchObject({ status: "in_progress" });
    expect(await operator("GET", `/v1/responses/${facts.response}`)).toMatchObject({ status: "completed" });
    expect(await operator("GET", `/api/cron/jobs/${facts.job}`)).toMatchObject({ job: { state: "active" } });
    const { session } = await operator<{ session: { title: string; model: string | null } }>("GET", sessionPath(facts));
    expect([session.title, session.model]).toEqual([`about an ${MARK}`, null]);
    const asks = `/api/sessions/${encodeURIComponent(`${OTHER}asks`)}/transcript`;
    expect(JSON.stringify(await operator("GET", asks))).toContain(`and one more ${MARK}`);
  });
});

/** Each method with each way to name something of the other agent. */
function methodsFor(of: Facts): Record<keyof WireMethods, object | readonly object[]> {
  const session = of.session;
  const job = { schedule: { kind: "every", expr: "1d" }, task: "x", agentId: "bravo" };
  return {
    "approvals.decide": { id: of.approval, decision: "deny" },
    "approvals.list": {},
    "chat.abort": { session: `${OTHER}asks` },
    "chat.cancel": { id: of.waiting },
    "chat.edit": { id: of.waiting, text: "changed" },
    "chat.react": { id: `${of.turn}:0`, emoji: "👍" },
    "chat.send": [
      { session, text: "hi", clientId: "k1" },
      { session: "plans", agent: "bravo", text: "hi", clientId: "k3" },
    ],
    "chat.steer": [
      { session, text: "hi", clientId: "k2" },
      { session: "plans", agent: "bravo", text: "hi", clientId: "k4" },
    ],
    "commands.list": [{ session }, { session: "plans", agent: "bravo" }],
    "cron.add": { id: "mine", ...job },
    "cron.list": {},
    "cron.pause": { id: of.job },
    "cron.remove": { id: of.job },
    "cron.resume": { id: of.job },
    "cron.run": { id: of.job },
    "cron.runs": { id: of.job },
    "cron.status": {},
    "cron.update": { id: of.job, task: "changed" },
    "cron.wake": { text: "hi" },
    "questions.answer": { id: of.question, answer: "tea" },
    "questions.list": {},
    "sessions.get": { session },
    "sessions.list": { search: MARK },
    "sessions.prepare": [{ session }, { session: "plans", agent: "bravo" }],
    "sessions.reset": { session },
    status: {},
    subscribe: {
      events: ["message", "turn.started", "turn.delta", "turn.tool", "turn.ended", "approval", "question"],
      sinceSeq: 0,
    },
    "tools.call": { tool: "session_status", params: { sessionKey: session } },
    "tools.list": {},
  };
}

/** Parameters that name something of the other agent, for each tool that a key for all of MCP is offered. */
const TOOL_CALLS: Readonly<Record<string, (of: Facts) => readonly object[]>> = {
  add_task: () => [], // waits for an owner: see `approvedByItself`
  ask_agent: (of) => [
    { message: "hi", agent: "bravo" },
    { message: "hi", session: of.session },
  ],
  complete_task: () => [{ id: "task_1" }],
  create_reminder: () => [],
  cron: (of) => [{ action: "list" }, { action: "runs", id: of.job }, { action: "remove", id: of.job }],
  gateway: () => [{ action: "status" }],
  list_tasks: () => [{}],
  read_note: (of) => [{ id: of.note }],
  save_note: () => [],
  search_notes: () => [{ query: "*" }],
  web_fetch: () => [],
  web_search: () => [],
};

/** Every method that the door serves, by the files that serve them. */
function servedMethods(): readonly string[] {
  const folder = join(import.meta.dir, "..", "src", "mcp", "server");
  const sources = readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  const served = sources.flatMap((name) => [
    ...readFileSync(join(folder, name), "utf8").matchAll(/setRequestHandler\(\s*"([^"]+)"/g),
  ]);
  return served.map(([, method = ""]) => method).sort();
}

type McpProbe = readonly [what: string, ask: () => Promise<unknown>];

function mcpProbes(client: Client): readonly McpProbe[] {
  const transcript = `pi-gateway://sessions/${encodeURIComponent(facts.session)}`;
  const uris = [transcript, `pi-gateway://media/${facts.media}`, `pi-gateway://notes/${facts.note}`];
  const words = { ref: { type: "ref/resource" as const, uri: "pi-gateway://sessions/{key}" } };
  const probes: Readonly<Record<string, readonly (() => Promise<unknown>)[]>> = {
    "completion/complete": [() => client.complete({ ...words, argument: { name: "key", value: "" } })],
    "prompts/get": [() => everyPrompt(client)],
    "prompts/list": [() => client.listPrompts()],
    "resources/list": [() => client.listResources()],
    "resources/read": uris.map((uri) => () => client.readResource({ uri })),
    "resources/subscribe": [], // of the older revision, see the test of what is told
    "resources/templates/list": [() => client.listResourceTemplates()],
    "resources/unsubscribe": [],
    "tools/call": [() => everyTool(client)],
    "tools/list": [() => client.listTools()],
  };
  expect(Object.keys(probes)).toEqual([...servedMethods()]);
  return Object.entries(probes).flatMap(([method, asks]) => asks.map((ask) => [method, ask] as const));
}

async function everyTool(client: Client): Promise<unknown> {
  const { tools } = await client.listTools();
  const results: unknown[] = [];
  for (const { name } of tools) {
    const calls = TOOL_CALLS[name]?.(facts);
    expect([name, calls !== undefined]).toEqual([name, true]);
    for (const given of calls ?? []) {
      const result = await client.callTool({ name, arguments: { ...given } });
      if (result.isError !== true) results.push([name, result]);
      else expect([name, JSON.stringify(result).includes(MARK)]).toEqual([name, false]);
    }
  }
  return results;
}

/** Commands run in a session of the key, also those that end something: what the other agent does goes on. */
async function everyPrompt(client: Client): Promise<unknown> {
  const { prompts } = await client.listPrompts();
  const names = prompts.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["compact", "stop", "new"]));
  const got: unknown[] = [];
  for (const name of names) got.push(await client.getPrompt({ name }));
  return got;
}

/** Whether a call that waits for an owner ran although no owner was asked. */
async function approvedByItself(client: Client): Promise<boolean> {
  const over = new AbortController();
  const call = client.callTool({ name: "add_task", arguments: { title: "mine" } }, { signal: over.signal }).then(
    ({ isError }) => isError !== true,
    () => false,
  );
  const mine = await eventually(
    "its call waits for an owner, or has ended",
    async () => {
      const { items } = await operator<{ items: PendingApproval[] }>("GET", "/api/approvals");
      return items.find(({ id }) => id !== facts.approval) ?? (await Promise.race([call, false]));
    },
    (found) => found !== false,
  );
  if (typeof mine === "object") await operator("POST", `/api/approvals/${mine.id}`, { decision: "deny" });
  return call;
}
