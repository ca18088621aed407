/** Bad input gets a sentence and loses nothing: requests against a real gateway with real pi and the demo model. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { request as rawRequest } from "node:http";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { openSocket, post, problemOf, SMALL_POOL, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGatewayProcess({ config: { agent: { pool: SMALL_POOL }, media: { maxMb: 1 } } });
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const MILLION = 1_000_000;

describe("a message that cannot be taken", () => {
  test.each([
    ["empty", { text: "" }, { status: 422, code: "empty_message", words: "Write something" }],
    ["only spaces", { text: " \n\t " }, { status: 422, code: "empty_message", words: "Write something" }],
    [
      "too long",
      { text: "x".repeat(MILLION) },
      { status: 413, code: "too_large", words: "1,000,000 characters; the limit is 200,000" },
    ],
    ["without a text", {}, { status: 422, code: "invalid_params", words: "text" }],
    ["with a text that is no text", { text: 5 }, { status: 422, code: "invalid_params", words: "text" }],
    ["with a misspelt name", { text: "a", sesion: "b" }, { status: 422, code: "invalid_params", words: "sesion" }],
    [
      "for a session of no such form",
      { text: "a", session: "Not A Name" },
      { status: 422, code: "invalid_params", words: "short name" },
    ],
    [
      "for an agent that does not exist",
      { text: "a", agent: "nobody" },
      { status: 422, code: "invalid_params", words: "agent" },
    ],
    ["that is no JSON", "{", { status: 400, code: "bad_request", words: "not valid JSON" }],
    ["that is nothing", "", { status: 400, code: "bad_request", words: "not valid JSON" }],
    ["nested too deeply", "[".repeat(100_000), { status: 400, code: "bad_request", words: "64 levels" }],
    ["that is no text at all", "\u0000".repeat(20), { status: 400, code: "bad_request", words: "not valid JSON" }],
  ])("is refused in a sentence: %s", async (_what, body, { status, code, words }) => {
    const problem = await problemOf(await post(gateway, body));
    expect(problem).toEqual({ status, code, message: expect.stringContaining(words) });
    expect(problem.message).toMatch(/^[A-Z`].*\.$/);
  });

  test("is refused by its size before it is read, with both numbers", async () => {
    const problem = await problemOf(await post(gateway, { text: "x".repeat(3 * MILLION) }));
    expect(problem).toEqual({ status: 413, code: "too_large", message: expect.stringMatching(/2\.9 MiB.*2\.3 MiB/) });
  });

  test("is refused when it is not sent as JSON", async () => {
    const response = await post(gateway, "text=hello", { "content-type": "application/x-www-form-urlencoded" });
    expect(await problemOf(response)).toMatchObject({ status: 415, code: "wrong_type" });
  });

  test("leaves no trace: what was refused is in no transcript, and the next message is answered", async () => {
    await post(gateway, { text: " ", session: "no-trace" });
    await post(gateway, { text: "x".repeat(200_001), session: "no-trace" });
    await post(gateway, { text: "echo: x", session: "no-trace", nonsense: 1 });
    expect(await transcript(gateway, "no-trace")).toEqual([]);
    const { status, body } = await gateway.chat("echo: still here", { session: "no-trace" });
    expect({ status, content: body.content }).toEqual({ status: 200, content: "still here" });
  });
});

describe("a stranger", () => {
  const unsigned = (headers: Record<string, string>) =>
    fetch(`${gateway.url}/api/chat`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ text: "echo: let me in", session: "strangers" }),
    });

  test("without a token, or with a wrong one, is told to sign in", async () => {
    for (const headers of [{}, { authorization: "Bearer wrong-token" }, { authorization: "Basic b3BlcmF0b3I6" }]) {
      const response = await unsigned(headers);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(await problemOf(response)).toMatchObject({ status: 401, code: "unauthorized" });
    }
  });

  test("cannot send the token in the address, where histories and logs would keep it", async () => {
    const response = await fetch(`${gateway.url}/api/status?token=${gateway.token}`);
    expect(await problemOf(response)).toMatchObject({
      status: 400,
      message: expect.stringContaining("Authorization header"),
    });
  });

  test("on a page of another site is refused even with the right token", async () => {
    const response = await post(gateway, { text: "echo: x" }, { origin: "https://evil.example" });
    expect(await problemOf(response)).toMatchObject({ status: 403, code: "forbidden" });
  });

  test("cannot open the event socket from another site", async () => {
    const response = await gateway.fetch("/ws", {
      headers: { upgrade: "websocket", connection: "Upgrade", origin: "https://evil.example" },
    });
    expect(await problemOf(response)).toMatchObject({ status: 403 });
  });

  test("that reaches it under another name is refused, on public pages too", async () => {
    for (const path of ["/health", "/", "/api/status"]) {
      expect(await underName("evil.example", path)).toMatchObject({ status: 421, code: "wrong_host" });
    }
  });

  test("learns nothing about which addresses exist", async () => {
    const [known, unknown] = await Promise.all(
      ["/api/status", "/api/no-such-thing"].map(async (path) => problemOf(await fetch(`${gateway.url}${path}`))),
    );
    expect(known).toEqual(unknown as never);
  });

  test("has left no message behind", async () => {
    await unsigned({ authorization: "Bearer wrong-token" });
    expect(await transcript(gateway, "strangers")).toEqual([]);
  });

  function underName(host: string, path: string): Promise<{ status: number; code: string }> {
    const headers = { host, authorization: `Bearer ${gateway.token}` };
    return new Promise((resolve, reject) => {
      rawRequest(`${gateway.url}${path}`, { headers }, async (response) => {
        const body = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString();
        resolve({
          status: response.statusCode ?? 0,
          code: (JSON.parse(body) as { error: { code: string } }).error.code,
        });
      })
        .on("error", reject)
        .end();
    });
  }
});

describe("a wrong frame on the event socket", () => {
  test("is answered with a sentence, and the socket stays usable", async () => {
    const socket = await openSocket(gateway);
    await expect(socket.request("chat.send", { session: "ws", text: "", clientId: "a" })).rejects.toThrow(
      /^empty_message: The message is empty/,
    );
    await expect(socket.request("chat.send", { session: "ws" })).rejects.toThrow(/^invalid_params: /);
    await expect(socket.request("no.such", {})).rejects.toThrow("not_found: There is no such method.");
    await expect(socket.request("subscribe", { events: ["nonsense"] })).rejects.toThrow(
      /^invalid_params: Events are: /,
    );
    expect(await socket.request("chat.send", { session: "ws", text: "echo: fine", clientId: "b" })).toMatchObject({
      duplicate: false,
    });
    await socket.until("the end of the turn", (events) => events.some(({ event }) => event === "turn.ended"));
    socket.close();
  });
});

test("an answer to a problem never shows paths, stacks or engine words", async () => {
  const answers = await Promise.all([
    post(gateway, "{"),
    post(gateway, { text: 1 }),
    gateway.fetch("/api/sessions/%00%ff/transcript"),
    gateway.fetch("/api/sessions?limit=-1"),
    gateway.fetch("/api/sessions?cursor=nonsense"),
    gateway.fetch("/../../etc/passwd"),
    gateway.fetch("/api/chat"),
  ]);
  for (const answer of answers) {
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    const text = await answer.text();
    expect(Object.keys((JSON.parse(text) as { error: object }).error)).toEqual(["code", "message", "requestId"]);
    expect(text).not.toMatch(/\bat .*:\d+|SyntaxError|TypeError|SQLITE|node_modules/);
    expect(text).not.toContain(gateway.home);
  }
});
