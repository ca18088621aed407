/** `pi-gateway/client` as a program imports it, from the built package: a real gateway with the demo model, in Bun and in Node. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { dirname, join } from "node:path";
import type { createGatewayClient as Create } from "../src/client/client.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const PROJECT = dirname(import.meta.dir);
/** The built file: the types are those of the sources, which it was made from. */
const { createGatewayClient } = (await import(join(PROJECT, "dist/sdk/client.js"))) as {
  createGatewayClient: typeof Create;
};

let gateway: GatewayProcess;
const client = () => createGatewayClient({ url: gateway.url, token: gateway.token });

beforeAll(async () => {
  gateway = await startGatewayProcess({ config: { agent: { pool: { min: 1, max: 1 } } } });
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

test("a conversation runs whole and as it is written, and the same key is answered once", async () => {
  const reply = await client().chat({ text: "echo: hello", session: "notes" }, { idempotencyKey: "once" });
  expect(reply.content).toContain("hello");
  const again = await client().chat({ text: "echo: hello", session: "notes" }, { idempotencyKey: "once" });
  expect(again.turnId).toBe(reply.turnId);
  const events = await Array.fromAsync(client().chatStream({ text: "echo: one two three", session: "notes" }));
  expect([events[0]?.event, events.at(-1)?.event]).toEqual(["accepted", "done"]);
  const text = events.flatMap((event) => (event.event === "delta" ? [event.data.text] : [])).join("");
  expect(text).toContain("one two three");
  const { items } = await client().request("GET /api/sessions/:key/transcript", { path: { key: "notes" } });
  expect(items.length).toBeGreaterThanOrEqual(4);
});

test("a tool is called, and a call that is refused is an answer with its code", async () => {
  expect(await client().callTool("add_task", { title: "water the plants" })).toMatchObject({ ok: true });
  expect(await client().callTool("add_task", { titel: "x" })).toMatchObject({
    ok: false,
    error: { code: "invalid_params" },
  });
  expect(await client().callTool("no_such_tool", {})).toMatchObject({ ok: false, error: { code: "unknown_tool" } });
});

test("events of a turn come over the socket, and methods are typed as they are answered", async () => {
  using socket = await client().connect();
  const session = "agent:default:webchat:dm:client-test";
  const seen: string[] = [];
  const following = (async () => {
    for await (const event of socket.events(["turn.delta", "turn.ended"])) {
      if (event.event === "turn.delta") seen.push(event.data.text);
      if (event.event === "turn.ended") return;
    }
  })();
  await socket.call("status", {}); // answered after the subscription
  const { sessionKey } = await socket.call("chat.send", { session, text: "echo: over the socket", clientId: "c1" });
  await following;
  expect([sessionKey, seen.join("")]).toEqual([session, expect.stringContaining("over the socket")]);
});

test("a file that was uploaded goes with a message", async () => {
  const words = new TextEncoder().encode("Bring milk.");
  const { mediaId, url } = await client().upload(words, { name: "eine Liste für Ada.txt" });
  expect(url).toContain(mediaId);
  const { content } = await client().chat({ text: "echo: look", session: "files", attachments: [{ mediaId }] });
  expect(content).toContain("look");
});

test("Node imports it by the name of the package and talks to the gateway", async () => {
  const program = `
    import { createGatewayClient, isGatewayRequestError } from "pi-gateway/client";
    const client = createGatewayClient({ url: process.env.URL, token: process.env.TOKEN });
    let text = "";
    for await (const { event, data } of client.chatStream({ text: "echo: from node", session: "node" }))
      if (event === "delta") text += data.text;
    const refused = await client.request("GET /api/turns/:id", { path: { id: "none" } }).catch((error) => error);
    console.log(JSON.stringify([text, isGatewayRequestError(refused), refused.code]));`;
  const node = Bun.which("node");
  if (node === null) return; // there is no Node on this machine
  const env = { PATH: process.env.PATH ?? "", URL: gateway.url, TOKEN: gateway.token };
  const child = Bun.spawn([node, "--input-type=module", "-e", program], {
    cwd: PROJECT,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  expect(JSON.parse(await new Response(child.stdout).text())).toEqual([
    ...[expect.stringContaining("from node"), true, "not_found"],
  ]);
});
