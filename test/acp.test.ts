/** `pi-gw acp` as an editor has it: the client side of the official SDK starts the command and talks to a real gateway with real pi. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as acp from "@agentclientprotocol/sdk";
import { deferred } from "../src/kit/deferred.ts";
import { type FakeProvider, type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { waitFor } from "../src/testing/wait-for.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { ASKING_EXTENSION } from "./asking-extension.ts";
import { asked, endpoint, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const MAIN = join(import.meta.dir, "..", "dist", "main.js");
let home: TempHome;
let provider: FakeProvider;
let gateway: GatewayProcess;
let space = "";
let slow = deferred<void>();

function play(words: string, result: string | null): FakeReply {
  if (result !== null) return says(`got ${result}`);
  if (words.includes("break")) return { kind: "status", status: 400, message: "the model is broken" };
  if (words.includes("slowly")) return says("so ", slow.promise, "far");
  if (words.includes("change it"))
    return {
      kind: "tools",
      calls: [{ name: "edit", input: { path: "a.txt", edits: [{ oldText: "old", newText: "new" }] } }],
    };
  if (words.includes("water")) return { kind: "tools", calls: [{ name: "add_task", input: { title: "water" } }] };
  if (words.includes("drink")) return { kind: "tools", calls: [{ name: "ask_choice", input: {} }] };
  return says("hello ", "there");
}

beforeAll(async () => {
  home = await tempHome();
  space = join(home.path, "workspace");
  const extension = join(home.path, "asking.ts");
  await writeFile(extension, ASKING_EXTENSION);
  provider = await startFakeProvider((request) => {
    const last = request.messages.at(-1);
    return play(asked(request), last?.role === "tool" ? textOf(last.content) : null);
  });
  const { agent, models } = endpoint(provider);
  gateway = await startGatewayProcess({
    home: home.path,
    config: {
      models,
      agent: { ...agent, extensions: [extension], tools: ["ask_choice", "add_task", "edit"] },
      agents: [{ id: "coder" }, { id: "writer" }],
      tools: { approvals: { ask: ["add_task"], never: ["ask_choice"] } },
    },
  });
});
const children: { kill(): void }[] = [];
afterEach(() => {
  slow.resolve();
  slow = deferred();
  for (const child of children.splice(0)) child.kill();
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

/** An editor that answers every permission as told, and remembers what it was shown. */
function editor(
  choose: (request: acp.RequestPermissionRequest) => string | null = () => null,
  flags: readonly string[] = [],
) {
  const child = Bun.spawn([process.execPath, "--no-env-file", MAIN, "acp", "--home", home.path, ...flags], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  children.push(child);
  const updates: acp.SessionUpdate[] = [];
  const permissions: acp.RequestPermissionRequest[] = [];
  const input = new WritableStream<Uint8Array>({
    write(chunk) {
      child.stdin.write(chunk);
      child.stdin.flush();
    },
  });
  const app = acp
    .client({ name: "a test" })
    .onNotification(acp.methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
      permissions.push(params);
      const optionId = choose(params);
      return { outcome: optionId === null ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
    });
  const { agent } = app.connect(acp.ndJsonStream(input, child.stdout));
  const said = () =>
    updates.flatMap((one) =>
      one.sessionUpdate === "agent_message_chunk" && one.content.type === "text" ? [one.content.text] : [],
    );
  const commands = () =>
    updates.flatMap((one) => (one.sessionUpdate === "available_commands_update" ? one.availableCommands : []));
  return { agent, updates, permissions, said, commands, child };
}

/** As editors are offered them: one for everybody, one for owners. */
const STOP = { name: "stop", description: expect.any(String) };
const SESSIONS = { name: "sessions", description: expect.any(String), input: { hint: "[words]" } };

/** A key that may chat and read, for these agents. */
async function keyFile(agents: readonly string[]): Promise<{ readonly id: string; readonly file: string }> {
  const body = JSON.stringify({ name: "my editor", scopes: ["chat", "read"], agents });
  const headers = { "content-type": "application/json" };
  const response = await gateway.fetch("/api/keys", { method: "POST", headers, body });
  const { secret, key } = (await response.json()) as { secret: string; key: { id: string } };
  const file = join(home.path, `${key.id}.txt`);
  await writeFile(file, secret);
  return { id: key.id, file };
}

const text = (words: string): acp.ContentBlock[] => [{ type: "text", text: words }];

async function begin(made: ReturnType<typeof editor>): Promise<string> {
  const info = await made.agent.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION });
  expect(info).toMatchObject({ protocolVersion: 1, agentInfo: { name: "pi-gateway" } });
  return (await made.agent.request("session/new", { cwd: space, mcpServers: [] })).sessionId;
}

describe("an editor", () => {
  test("talks to an agent, sees it write, and finds the session again", async () => {
    const first = editor();
    const sessionId = await begin(first);
    const prompt = [
      ...text("Good morning"),
      { type: "resource" as const, resource: { uri: "file:///a.ts", text: "let a = 1;" } },
    ];
    expect(await first.agent.request("session/prompt", { sessionId, prompt })).toEqual({ stopReason: "end_turn" });
    expect(first.said().join("")).toBe("hello there");
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("let a = 1;");
    const second = editor();
    await second.agent.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION });
    const { sessions } = await second.agent.request("session/list", {});
    expect(sessions.map((one) => one.sessionId)).toContain(sessionId);
    await second.agent.request("session/load", { sessionId, cwd: space, mcpServers: [] });
    expect(second.updates).toMatchObject([
      { sessionUpdate: "user_message_chunk", content: { text: expect.stringContaining("Good morning") } },
      { sessionUpdate: "agent_message_chunk", content: { text: "hello there" } },
      { sessionUpdate: "available_commands_update", availableCommands: expect.arrayContaining([SESSIONS]) },
    ]);
  });

  test("sees a change as a diff before and while it is made", async () => {
    await writeFile(join(space, "a.txt"), "the old text");
    const made = editor(() => "once");
    const sessionId = await begin(made);
    await made.agent.request("session/prompt", { sessionId, prompt: text("Please change it") });
    const calls = made.updates.filter(({ sessionUpdate }) => sessionUpdate.startsWith("tool_call"));
    const path = join(space, "a.txt");
    expect(calls[0]).toMatchObject({
      kind: "edit",
      locations: [{ path }],
      content: [{ type: "diff", path, oldText: "old", newText: "new" }],
    });
    expect(calls.at(-1)).toMatchObject({ status: "completed" });
    expect(await readFile(path, "utf8")).toBe("the new text");
  });

  test.each([
    ["once", "created"],
    ["deny", "did not approve"],
    [null, "did not approve"],
  ])("asks for an approval, which is answered with %p", async (choice, expected) => {
    const made = editor(() => choice);
    const sessionId = await begin(made);
    await made.agent.request("session/prompt", { sessionId, prompt: text("Please water the plants") });
    expect(made.permissions).toMatchObject([
      {
        sessionId,
        toolCall: { title: expect.stringContaining("add_task: water"), rawInput: { title: "water" } },
        options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "reject_once" }],
      },
    ]);
    expect(made.said().join("")).toContain(expected);
  });

  test("answers what an extension wants to know", async () => {
    const made = editor(({ options }) => options.find(({ name }) => name === "coffee")?.optionId ?? null);
    const sessionId = await begin(made);
    await made.agent.request("session/prompt", { sessionId, prompt: text("A drink, please") });
    expect(made.said().join("")).toBe('got "coffee"');
  });

  test("stops an answer, and is told when one fails", async () => {
    const made = editor();
    const sessionId = await begin(made);
    const answer = made.agent.request("session/prompt", { sessionId, prompt: text("Speak slowly") });
    await waitFor("the first words", () => made.said().length > 0);
    await made.agent.notify("session/cancel", { sessionId });
    expect(await answer).toEqual({ stopReason: "cancelled" });
    const failed = made.agent.request("session/prompt", { sessionId, prompt: text("break") });
    await expect(failed).rejects.toThrow(/./);
  });

  test("is told when the gateway goes away in the middle of an answer, and goes on when it is back", async () => {
    const made = editor();
    const sessionId = await begin(made);
    const answer = made.agent.request("session/prompt", { sessionId, prompt: text("Speak slowly") });
    await waitFor("the first words", () => made.said().length > 0);
    await gateway.kill();
    await expect(answer).rejects.toThrow("The gateway went away");
    await expect(made.agent.request("session/prompt", { sessionId, prompt: text("Hello?") })).rejects.toThrow();
    slow.resolve();
    gateway = await startGatewayProcess({ home: home.path });
    made.updates.length = 0;
    await made.agent.request("session/prompt", { sessionId, prompt: text("Good morning") });
    expect(made.said().join("")).toContain("hello there");
  });

  test("with a key for some agents talks to one of them, and is offered the commands that the key may use", async () => {
    const key = await keyFile(["coder", "writer"]);
    const made = editor(() => null, ["--key-file", key.file, "--agent", "writer"]);
    const sessionId = await begin(made);
    expect(sessionId).toStartWith(`agent:writer:api:dm:${key.id}.acp-`);
    await waitFor("the commands", () => made.commands().length > 0);
    expect(made.commands()).toContainEqual(STOP);
    expect(made.commands()).not.toContainEqual(SESSIONS);
    await made.agent.request("session/prompt", { sessionId, prompt: text("Good morning") });
    await made.agent.request("session/prompt", { sessionId, prompt: text("/status") });
    expect(made.said().join("")).toMatch(/^hello there.*Model: fake\/fake-1/);
    const { sessions } = await made.agent.request("session/list", {});
    expect(sessions.map((one) => one.sessionId)).toContain(sessionId);
  });

  test("with a key for other agents is refused with the reason before anything is said", async () => {
    const key = await keyFile(["coder"]);
    const made = editor(() => null, ["--key-file", key.file, "--agent", "writer"]);
    await expect(begin(made)).rejects.toThrow("This key is not for the agent writer.");
  });

  test("gets the reply of a slash command, and ends with its input", async () => {
    const made = editor();
    const sessionId = await begin(made);
    await waitFor("the commands", () => made.commands().length > 0);
    expect(made.commands()).toContainEqual(SESSIONS);
    await made.agent.request("session/prompt", { sessionId, prompt: text("/status") });
    expect(made.said().join("")).toContain("fake/fake-1");
    made.child.stdin.end();
    expect(await made.child.exited).toBe(0);
  });
});
