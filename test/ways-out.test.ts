/**
 * Secrets the gateway knows do not leave it: a model says its key, the operator's token and the bot's token in every way a real pi can, and
 * whatever people and programs receive is read byte by byte. A way out that is missing here is a way nobody looks at.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { deferred } from "../src/kit/deferred.ts";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import { type FakeBotApi, startFakeBotApi } from "../src/testing/telegram/fake-bot-api.ts";
import { FRIEND, said } from "../src/testing/telegram/people.ts";
import { MCP_REVISIONS, mcpClient } from "../src/testing/http/test-mcp-door.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { asked, endpoint, eventually, keyOf, openSocket, post, told, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const KEY = "canary-provider_key-7f3a9c21e5";
const BOT = "78:AAcanary-bot_token-5d41402abc4b2a76b9719d911017c592";
const HOOKS_TOKEN = "canary-hooks-token-of-a-test-1";
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  "base64",
);
type Step = readonly [tool: string, input: Readonly<Record<string, unknown>>];

let provider: FakeProvider;
let api: FakeBotApi;
let outside: Server;
let gateway: GatewayProcess;
const posted: string[] = [];
let middle = Promise.resolve();

/** Everything the model knows, as it might say it. */
const confession = (): string =>
  [KEY, gateway.token, BOT, Buffer.from(`user:${KEY}`).toString("base64"), KEY.replaceAll("_", "\\_")].join(" | ");

/** By the words of the person, which are no secret: what the model does, and what it says in the end. */
const SCRIPTS: Readonly<Record<string, () => readonly Step[]>> = {
  "SAY IT": () => [],
  "POST IT": () => [["send_message", { text: confession() }]],
  "CAPTION IT": () => [["send_media", { path: "chart.png", caption: confession() }]],
  "NAME IT": () => [["send_media", { path: `${KEY}.png` }]],
  "NOTE IT": () => [
    ["save_note", { title: "mine", content: confession() }],
    ["search_notes", { query: "mine" }],
  ],
  "MISCALL IT": () => [[`no_such_${KEY}`, { because: confession() }]],
  "EDIT IT": () => [
    ["send_message", { text: "first" }],
    ["message", { action: "edit", messageId: "LAST", text: confession() }],
  ],
};

/** Requests of programs written for OpenAI's APIs: where they go, and what is in them. */
const OPENAI_WAYS: Readonly<Record<string, readonly [path: string, input: (words: string) => object]>> = {
  "a chat completion": ["/v1/chat/completions", (content) => ({ messages: [{ role: "user", content }] })],
  "a chat completion of a session": [
    "/v1/chat/completions",
    (content) => ({ user: "spilled", messages: [{ role: "user", content }] }),
  ],
  "a response": ["/v1/responses", (input) => ({ input })],
  "a response of a session": ["/v1/responses", (input) => ({ user: "spilled-response", input })],
};

function spill(request: ProviderRequest): FakeReply {
  const words = `${asked(request)} ${told(request)}`;
  const name = Object.keys(SCRIPTS).find((one) => words.includes(one));
  if (name === undefined) return says("ok");
  const from = request.messages.findLastIndex(({ role }) => role === "user");
  const results = request.messages.slice(from).filter(({ role }) => role === "tool");
  const [tool, input] = SCRIPTS[name]?.()[results.length] ?? [];
  if (tool === undefined || input === undefined)
    return says(...cut(`Here is all of it, as you wished: ${confession()} :there`));
  const last = /message_id\\?":\\?"([^"\\]+)/.exec(JSON.stringify(results))?.[1];
  return {
    kind: "tools",
    calls: [{ name: tool, input: input["messageId"] === "LAST" ? { ...input, messageId: last } : input }],
  };
}

/** In small pieces, with a pause after the first secret and in the middle of the second. */
function cut(text: string): readonly (string | Promise<unknown>)[] {
  const pieces: (string | Promise<unknown>)[] = [];
  for (let at = 0; at < text.length; at += 7) pieces.push(text.slice(at, at + 7));
  return pieces.toSpliced(11, 0, middle);
}

beforeAll(async () => {
  provider = await startFakeProvider(spill);
  api = await startFakeBotApi();
  outside = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    posted.push(Buffer.concat(chunks).toString("utf8"));
    response.writeHead(204).end();
  });
  outside.listen(0, "127.0.0.1");
  await once(outside, "listening");
  const url = `http://127.0.0.1:${(outside.address() as { port: number }).port}/in`;
  const mapping = {
    message: "{{words}}",
    task: "Do it.",
    to: keyOf("hooked"),
    delivery: "direct",
    webhook: "ops",
    signed: false,
  };
  gateway = await startGatewayProcess({
    config: {
      ...endpoint(provider, "fake-1", KEY),
      roles: { owners: [`telegram:user:${FRIEND.id}`] },
      channels: { telegram: { botToken: BOT, apiRoot: api.apiRoot } },
      hooks: {
        enabled: true,
        token: HOOKS_TOKEN,
        mappings: { spill: mapping },
        targets: { ops: { url, secret: "a-secret-of-the-target-of-a-test", privateNetwork: true } },
      },
      logging: { transcripts: { enabled: true } },
    },
  });
  const space = join(gateway.home, "workspace");
  await mkdir(space, { recursive: true });
  for (const name of ["chart.png", `${KEY}.png`]) await writeFile(join(space, name), PNG);
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  outside?.closeAllConnections();
  outside?.close();
});

/** No secret in any form, and a mask: there was something to hide. */
function expectMasked(seen: string): void {
  const secrets = [KEY, gateway.token, BOT];
  const forms = secrets.flatMap((value) => [
    value,
    Buffer.from(value).toString("hex"),
    Buffer.from(value).toString("base64").slice(4, -4),
    Buffer.from(`user:${value}`).toString("base64").slice(8, -4),
    value.replaceAll("_", "\\_"),
    value.replaceAll("_", "\\\\_"),
  ]);
  const at = forms.map((form) => seen.indexOf(form)).find((one) => one >= 0);
  expect(at === undefined ? "" : seen.slice(Math.max(0, at - 300), at + 100)).toBe("");
  expect(seen).toContain("[redacted]");
}

const textOf = async (path: string): Promise<string> => (await gateway.fetch(path)).text();
const callTool = async (tool: string, params: unknown): Promise<string> => {
  const body = JSON.stringify({ tool, params });
  const init = { method: "POST", body, headers: { "content-type": "application/json" } };
  return (await gateway.fetch("/api/tools/call", init)).text();
};

describe("a secret that a model says", () => {
  test.each(Object.keys(SCRIPTS))("does not reach programs, sockets or the transcript: %s", async (words) => {
    const session = words.toLowerCase().replace(" ", "-");
    const socket = await openSocket(gateway);
    const whole = await (await post(gateway, { text: words, session })).text();
    expectMasked(whole);
    const streamed = await (await post(gateway, { text: words, session, stream: true })).text();
    expectMasked(streamed);
    expect(streamed).toContain("event: ");
    await socket.until(
      "the end of both turns",
      (events) => events.filter(({ event }) => event === "turn.ended").length === 2,
    );
    const frames = socket.events.map((event) => JSON.stringify(event)).join("\n");
    socket.close();
    expectMasked(frames);
    const deltas = socket.events.flatMap(({ event, data }) =>
      event === "turn.delta" ? [(data as { text: string }).text] : [],
    );
    expectMasked(deltas.join("")); // one piece after the other, as a page puts them together
    expect(deltas.join("")).toContain(":there");
    const key = encodeURIComponent(keyOf(session));
    expectMasked(await textOf(`/api/sessions/${key}/transcript?limit=200`));
  });

  test.each(Object.keys(OPENAI_WAYS))("does not reach a program over %s, whole or as it is written", async (name) => {
    const [path, input] = OPENAI_WAYS[name] ?? ["", () => ({})];
    for (const stream of [false, true]) {
      const body = JSON.stringify({ model: "pi-gateway", stream, ...input("SAY IT") });
      const init = { method: "POST", body, headers: { "content-type": "application/json" } };
      const seen = await (await gateway.fetch(path, init)).text();
      expectMasked(seen);
      const deltas = [...seen.matchAll(/"(?:delta|content)":"((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) => text);
      expectMasked(stream ? deltas.join("") : seen); // one piece after the other, as a program puts them together
      expect(seen).toContain(":there");
      const [id] = /resp_\w+/.exec(seen) ?? [];
      if (id !== undefined) expectMasked(await textOf(`/v1/responses/${id}`)); // as it is kept
    }
  });

  test("does not reach a chat on Telegram, neither while the answer grows nor in the end", async () => {
    const gate = deferred<void>();
    middle = gate.promise;
    const room = api.bot(BOT);
    const before = api.calls.length;
    api.push(BOT, said({ by: FRIEND, text: "SAY IT", messageId: room.nextMessageId() }));
    const sent = () => api.calls.slice(before).filter(({ method }) => method !== "getUpdates");
    await eventually(
      "a preview of the answer",
      () => JSON.stringify(sent()),
      (seen) => seen.includes("as you wished"),
    );
    expectMasked(JSON.stringify(sent()));
    gate.resolve();
    middle = Promise.resolve();
    await eventually(
      "the whole answer in the chat",
      () => JSON.stringify(sent()),
      (seen) => seen.includes(":there"),
    );
    expectMasked(JSON.stringify(sent().map(({ fields }) => fields)));
    const shown = room.messages.filter(({ text }) => text.includes("Here")).map(({ text }) => text);
    expectMasked(shown.join("\n"));
  });

  test("does not reach the target of an outgoing webhook, nor the chat that the incoming one was meant for", async () => {
    const headers = { authorization: `Bearer ${HOOKS_TOKEN}`, "content-type": "application/json" };
    const body = JSON.stringify({ words: "SAY IT" });
    expect((await fetch(`${gateway.url}/hooks/spill`, { method: "POST", headers, body })).status).toBe(202);
    await eventually(
      "a delivery to the webhook",
      () => posted.length,
      (count) => count > 0,
    );
    expectMasked(posted.join("\n"));
    const key = encodeURIComponent(keyOf("hooked"));
    const items = await eventually(
      "the answer in the transcript",
      () => textOf(`/api/sessions/${key}/transcript?limit=200`),
      (seen) => seen.includes(":there"),
    );
    expectMasked(items);
  });

  test("does not come back from a tool that a program or a person calls, in its result or its error", async () => {
    await callTool("save_note", { title: "kept", content: confession() });
    expectMasked(await callTool("search_notes", { query: "kept" }));
    const refused = JSON.parse(await callTool(`no_such_${KEY}`, {})) as { error: unknown };
    expectMasked(JSON.stringify(refused.error)); // besides, the answer repeats which tool was asked for
    const socket = await openSocket(gateway);
    expectMasked(
      JSON.stringify(await socket.request("tools.call", { tool: "search_notes", params: { query: "kept" } })),
    );
    socket.close();
    expectMasked(
      await (await post(gateway, { text: '/tool search_notes {"query":"kept"}', session: "by-hand" })).text(),
    );
  });

  test.each(MCP_REVISIONS)(
    "does not reach an MCP client of %s by a tool, an error, a resource or a prompt",
    async (revision) => {
      const client = await mcpClient({ url: gateway.url, token: gateway.token, revision });
      const heard: string[] = [];
      const gate = deferred<void>();
      middle = gate.promise;
      const onprogress = ({ message = "" }): void => {
        heard.push(message);
        if (message.includes("[redacted]")) gate.resolve(); // it goes on when the first secret is behind it
      };
      const ask = { name: "ask_agent", arguments: { message: "SAY IT", session: "by-mcp" } };
      expectMasked(JSON.stringify(await client.callTool(ask, { onprogress })));
      middle = Promise.resolve();
      expectMasked(JSON.stringify(heard));
      await client.callTool({ name: "save_note", arguments: { title: "kept", content: confession() } });
      const found = await client.callTool({ name: "search_notes", arguments: { query: "kept" } });
      expectMasked(JSON.stringify(found));
      const refused = await client.callTool({ name: `no_such_${KEY}` }).catch((error: unknown) => String(error));
      expectMasked(JSON.stringify(refused));
      const { resources } = await client.listResources();
      const read = resources.filter(({ name }) => name.endsWith(":by-mcp") || name === "kept");
      expect(read.length).toBeGreaterThan(1);
      for (const { uri } of read) expectMasked(JSON.stringify(await client.readResource({ uri })));
      const prompt = { name: "tool", arguments: { arguments: 'search_notes {"query":"kept"}' } };
      expectMasked(JSON.stringify(await client.getPrompt(prompt)));
      await client.close();
    },
  );

  test("is in no list of the API, no log and no transcript file", async () => {
    const lists = ["/api/tool-calls?limit=200", "/api/turns?limit=200", "/api/sessions?limit=200", "/api/status"];
    const all = (await Promise.all(lists.map(textOf))).join("\n");
    expectMasked(all);
    const logs = join(gateway.home, "logs");
    const written = async (): Promise<string> => {
      const files = (await readdir(logs, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
      const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), "utf8")));
      return texts.join("\n");
    };
    // transcripts are written a moment after their turn; this one is of the last turn above
    expectMasked(
      await eventually("the last turn in its transcript", written, (text) => text.includes("/tool search_notes")),
    );
  });
});
