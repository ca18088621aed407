/** A model behind an endpoint of one's own, set up with the documented lines: real gateway, real pi, scripted provider on loopback. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ERRORS, type ErrorCode } from "../src/contracts/errors.ts";
import { deferred } from "../src/kit/deferred.ts";
import { SANDBOX_TO_LOOK_INTO } from "../src/testing/confined-pid.ts";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import {
  agentPids,
  asked,
  endpoint,
  eventually,
  openSocket,
  post,
  runs,
  statusOf,
  streamed,
  wordsOf,
  transcript,
  WHOLE_TEST_MS,
} from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** Told within this long, retries of pi included. */
const SOON_MS = 10_000;
const KEY = "canary-of-the-environment-84512";
const OTHER_KEY = "canary-of-another-provider-77310";
const TOKEN = "canary-of-the-operator-99231-aXbYcZ";

const gate = deferred<void>();
/** When the model was first asked this; from then on the clock of the person who waits runs, whatever else the machine does. */
const firstAsked = new Map<string, number>();
let provider: FakeProvider;
let gateway: GatewayProcess;

/** What the model does depends on what it is asked, so that tests can run in any order and at the same time. */
function script(request: ProviderRequest): FakeReply {
  const words = asked(request);
  if (!firstAsked.has(words)) firstAsked.set(words, performance.now());
  const status = /answer with status (\d+)/.exec(words)?.[1];
  if (status) return { kind: "status", status: Number(status), message: `refused, key was ${request.authorization}` };
  if (words.includes("too long for you"))
    return { kind: "status", status: 400, message: "This model's maximum context length is 8192 tokens." };
  if (words.includes("break off")) return { kind: "cut", pieces: ["half an ", "answer"] };
  if (words.includes("say nothing")) return { kind: "hang" };
  if (words.includes("use the tool") && request.messages.at(-1)?.role !== "tool")
    return { kind: "tools", calls: [{ name: "session_status", input: {} }] };
  if (words.includes("in two parts")) return says("first part, ", gate.promise, "second part");
  return says("fine, ", "thank you");
}

beforeAll(async () => {
  provider = await startFakeProvider(script);
  const { agent, models } = endpoint(provider, "fake-1", "${FAKE_KEY}");
  gateway = await startGatewayProcess({
    config: {
      agent: { ...agent, sandbox: SANDBOX_TO_LOOK_INTO, pool: { min: 0, max: 2 } },
      agents: [{ id: "hasty", timeoutMs: 3_000 }],
      models,
      gateway: { auth: { token: "${MY_TOKEN}" } },
    },
    env: { FAKE_KEY: KEY, OPENAI_API_KEY: OTHER_KEY, MY_TOKEN: TOKEN },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

const requestsOf = (words: string) => provider.requests.filter((request) => asked(request).includes(words));

describe("an endpoint from models.providers", () => {
  test("gets the key, the model and the tools, and its tool call runs in the gateway", async () => {
    const { status, body } = await gateway.chat("please use the tool", { session: "with-tool" });
    expect({ status, content: body.content }).toEqual({ status: 200, content: "fine, thank you" });
    expect(body.tool_calls).toEqual([
      { tool: "session_status", input: {}, status: "success", ms: expect.any(Number) },
    ] as never);
    const [first, second] = requestsOf("please use the tool");
    expect(first?.authorization).toBe(`Bearer ${KEY}`);
    expect(first?.body).toMatchObject({ model: "fake-1", stream: true });
    expect(first?.tools).toContain("session_status");
    expect(wordsOf(second?.messages.at(-1)?.content)).toContain("Model: fake/fake-1");
  });

  test("streams: the first words are shown while the model is still speaking", async () => {
    const events = streamed(await post(gateway, { text: "tell it in two parts", session: "parts", stream: true }));
    const seen: string[] = [];
    for await (const { event, data } of events) {
      if (event === "delta") seen.push(String(data.text));
      if (event === "delta" && seen.length === 1) gate.resolve();
      if (event === "done") expect(data.content).toBe("first part, second part");
    }
    expect(seen).toEqual(["first part, ", "second part"]);
  });

  test("is named in the status, and it is not a demo", async () => {
    expect((await statusOf(gateway)).model).toEqual({ name: "fake/fake-1", demo: false });
  });
});

describe("a provider that fails", () => {
  test.concurrent.each([
    ["answer with status 401", "provider_auth", /^fake answered with status 401: "refused, key was/],
    ["answer with status 402", "provider_unpaid", /^fake answered with status 402: "refused, key was/],
    ["answer with status 429", "provider_limited", /^fake answered with status 429: "refused, key was/],
    ["answer with status 500", "provider_down", /^fake answered with status 500: "refused, key was/],
    [
      "too long for you",
      "provider_context",
      /^fake answered with status 400: "This model's maximum context length is 8192/,
    ],
    ["break off", "provider_cut", /^fake failed/],
  ] as const)(
    "%s: the chat says who failed, with what, and what to do, and the session goes on",
    async (words, code, said) => {
      const session = words.replaceAll(" ", "-");
      const failed = await gateway.chat(words, { session });
      expect(performance.now() - (firstAsked.get(words) ?? 0)).toBeLessThan(SOON_MS);
      expect({ status: failed.status, error: failed.body.error?.code, say: failed.body.error?.message }).toEqual({
        status: ERRORS[code].status,
        error: code,
        say: expect.stringMatching(said),
      });
      expect(failed.body.error?.message).toEndWith(ERRORS[code].say);
      await expectNotice(session, code, undefined, said);

      const after = await gateway.chat("and now", { session });
      expect(after.body.content).toBe("fine, thank you");
    },
  );

  test("that never answers is given up after the agent's timeoutMs, and the session goes on", async () => {
    const say = (text: string, session: string) => gateway.chat(text, { session, agent: "hasty" });
    await eventually(
      "an answer before the time limit",
      () => say("good morning", "warming-up"), // a start takes its share of the time limit, so that it may need a second try
      ({ body }) => body.content === "fine, thank you",
    );
    const failed = await say("say nothing", "silent");
    expect(failed.body.error?.message).toBe(ERRORS.agent_timeout.say);
    expect(requestsOf("say nothing")).toHaveLength(1);
    await expectNotice("silent", "agent_timeout", "hasty");
    expect((await say("and now", "silent")).body.content).toBe("fine, thank you");
  });

  test("is told on the event socket as the same notice, after the turn has ended", async () => {
    const socket = await openSocket(gateway);
    await socket.request("chat.send", { session: "told", text: "answer with status 401", clientId: "told-1" });
    await socket.until("two messages", (events) => events.filter(({ event }) => event === "message").length === 2);
    const order = socket.events.map(({ event }) => event);
    expect(order.indexOf("turn.ended")).toBeLessThan(order.lastIndexOf("message"));
    expect(socket.events.at(-1)?.data).toMatchObject({
      item: { role: "assistant", kind: "notice", text: expect.stringContaining(ERRORS.provider_auth.say) },
    });
    socket.close();
  });
});

describe("text that a person writes", () => {
  test.each(["//gw-x", " /compact", "/skill:x", "//gw-status {}", "!ls", "\n/model fake/fake-2"])(
    "reaches the model as text even when it looks like a command of pi: %j",
    async (words) => {
      const marked = `${words} #${JSON.stringify(words)}`;
      const { body } = await gateway.chat(marked, { session: "commands" });
      expect(body.content).toBe("fine, thank you");
      const text = marked.trim().replace(/^\/\//, "/"); // two slashes say a line that begins with one
      expect(asked(requestsOf(text)[0] ?? fail()).trim()).toBe(text);
    },
  );

  test.each(["/gw-x", "/gw-status {}"])("is answered by the gateway when it is no command: %j", async (words) => {
    const { body } = await gateway.chat(words, { session: "commands" });
    expect(body.content).toStartWith("There is no command");
  });

  test("cannot call the gateway's own command in pi, not even by its secret name", async () => {
    await gateway.chat("good morning", { session: "secret-name" });
    const pids = agentPids(gateway.home).filter(runs);
    expect(pids.length).toBeGreaterThan(0);
    for (const pid of pids) {
      const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0"); // one of them serves this session
      const name = variables.find((one) => one.startsWith("PI_GATEWAY_BRIDGE="))?.split("=")[1] ?? fail();
      const words = `/gw-${name} {"order":"none"}`;
      const { body: refused } = await gateway.chat(words, { session: "secret-name" });
      expect(refused.content).toStartWith("There is no command");
      expect(requestsOf(words)).toEqual([]);
      const { body } = await gateway.chat(`/${words}`, { session: "secret-name" });
      expect(body.content).toBe("fine, thank you");
      expect(asked(requestsOf(words)[0] ?? fail()).trim()).toBe(words);
    }
  });

  test("may be 190,000 characters long", async () => {
    const long = `a long one ${"wörter und ".repeat(17_300)}`.slice(0, 190_000);
    const { status, body } = await gateway.chat(long, { session: "long" });
    expect({ status, content: body.content }).toEqual({ status: 200, content: "fine, thank you" });
    expect(asked(requestsOf("a long one")[0] ?? fail()).trim()).toBe(long.trim());
    expect((await transcript(gateway, "long"))[0]?.text).toBe(long);
  });
});

describe("memory", () => {
  test("is kept between the turns of a session, and sessions do not see each other's", async () => {
    await gateway.chat("my cat is called Mimi", { session: "cats" });
    await gateway.chat("my dog is called Rex", { session: "dogs" });
    await gateway.chat("what is the cat called", { session: "cats" });
    await gateway.chat("what is the dog called", { session: "dogs" });
    const said = (words: string) =>
      requestsOf(words)[0]
        ?.messages.filter(({ role }) => role !== "system" && role !== "developer")
        .map(({ content }) => wordsOf(content).trim());
    expect(said("what is the cat called")).toEqual([
      "my cat is called Mimi",
      "fine, thank you",
      "what is the cat called",
    ]);
    expect(said("what is the dog called")).toEqual([
      "my dog is called Rex",
      "fine, thank you",
      "what is the dog called",
    ]);
  });
});

describe("secrets", () => {
  test("are in no file but the token's own and in nothing the gateway prints, also when a provider repeats the key in its error", async () => {
    await gateway.chat("answer with status 401", { session: "repeats-the-key" });
    expect(requestsOf("answer with status 401").at(-1)?.authorization).toContain(KEY);
    const leaks = [KEY, OTHER_KEY, TOKEN]
      .flatMap((secret) => filesWith(gateway.home, secret))
      .filter((path) => !path.startsWith("sessions/")); // pi's own record of what the provider said to it
    expect(leaks).toEqual(["token"]);
    const printed = gateway.stdout() + gateway.stderr();
    expect([KEY, OTHER_KEY, TOKEN].filter((secret) => printed.includes(secret))).toEqual([]);
    expect(printed).toContain("provider_auth");
  });

  test("do not come back from the settings", async () => {
    const shown = await (await gateway.fetch("/api/config")).text();
    expect([KEY, OTHER_KEY, TOKEN].filter((secret) => shown.includes(secret))).toEqual([]);
    expect(JSON.parse(shown)).toMatchObject({
      gateway: { auth: { token: "set" } },
      models: { providers: { fake: { apiKey: "set" } } },
    });
  });
});

/** The turn's last line is the catalogue's sentence; what the model had said before it failed stays. */
async function expectNotice(session: string, code: ErrorCode, agent?: string, said = /^/): Promise<void> {
  const items = await transcript(gateway, session, agent);
  const { text = "", role, kind } = items.at(-1) ?? {};
  expect([role, kind]).toEqual(["assistant", "notice"]);
  expect(text).toMatch(said);
  expect(text).toEndWith(ERRORS[code].say);
  expect(items.filter(({ kind }) => kind === "notice")).toHaveLength(1);
}

function filesWith(root: string, secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const look = (path: string): readonly string[] => {
    const full = join(root, path);
    if (lstatSync(full).isDirectory()) return readdirSync(full).flatMap((name) => look(join(path, name)));
    return readFileSync(full).includes(bytes) ? [path] : [];
  };
  return look("");
}

function fail(): never {
  throw new Error("it is not there");
}
