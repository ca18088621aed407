/** The first minutes with a gateway, from an empty folder: real process, real pi, demo model. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { SessionSummary } from "../src/contracts/chat.ts";
import { tempHome, type TempHome } from "../src/testing/temp-home.ts";
import { BUILD, type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { eventually, keyOf, post, statusOf, streamed, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

let folder: TempHome;
let gateway: GatewayProcess;

beforeAll(async () => {
  folder = await tempHome();
  const own = process.umask(0o022); // what most people have, so that the gateway's own care shows
  try {
    const asUsersRun = { build: BUILD, env: { PI_GATEWAY_PI: "" } }; // nothing compiled for tests, and the installed pi
    gateway = await startGatewayProcess({ home: join(folder.path, "made", "by-the-gateway"), ...asUsersRun });
  } finally {
    process.umask(own);
  }
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

describe("a gateway in an empty folder", () => {
  test("says in one line where it is and how a browser signs in", () => {
    expect(gateway.stdout().trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(gateway.stdout())).toEqual({
      event: "ready",
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      signIn: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{16,}$/),
    });
  });

  test("answers its first message, and says that a demo model speaks", async () => {
    const response = await post(gateway, { text: "hello" });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      content: expect.stringContaining("demo model"),
      tool_calls: [],
      sessionKey: keyOf("operator"),
      turnId: expect.stringMatching(/^turn_\w+$/),
      usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number), costUsd: 0 },
    });
    expect((await statusOf(gateway)).model).toEqual({ name: "gwdemo/demo", demo: true });
  });

  test("keeps everything it writes for its owner alone", async () => {
    await gateway.chat("echo: written down", { session: "private" });
    await eventually(
      "the agent has given back its session file", // which is moved then
      async () => (await statusOf(gateway)).pool.busy,
      (busy) => busy === 0,
    );
    const open = walk(folder.path, [join("made", "by-the-gateway")]).flatMap((path) => {
      const found = lstatSync(join(folder.path, path));
      const mode = (found.mode & 0o777).toString(8);
      return mode === (found.isDirectory() ? "700" : "600") ? [] : [`${path}: ${mode}`];
    });
    expect(open).toEqual([]);
  });
});

describe("the sandbox of a gateway without any settings", () => {
  test("lets an agent write a file and run a command, and keeps the token and the database from it", async () => {
    const { sandbox } = await statusOf(gateway);
    if (sandbox.tier === "none") {
      expect(await ran("id")).toContain("not installed here"); // no wall, no shell
      return;
    }
    const said = async (text: string) => (await gateway.chat(text, { session: "shell" })).body.content ?? "";
    expect(await said("write file words.txt: one two three")).toContain("`write`");
    expect(await said("list files")).toContain("words.txt");
    expect(await ran("wc -w < words.txt")).toContain("3");
    for (const name of ["token", "gateway.db", "gateway.json", "sessions", "logs"])
      expect(await ran(`ls -d ${join(gateway.home, name)} && cat ${join(gateway.home, name)}`)).toMatch(
        /No such file|denied/,
      );
    expect(await ran(`cat /proc/${process.pid}/environ; echo $?`)).toMatch(/No such file|denied/);
  });

  const ran = async (command: string) =>
    (await gateway.chat(`run: ${command}`, { session: "shell" })).body.content ?? "";
});

describe("a streamed answer", () => {
  test("comes as accepted, tool, deltas and done, in that order, and done is the same body as without a stream", async () => {
    const events = await Array.fromAsync(
      streamed(await post(gateway, { text: "status", session: "streamed", stream: true })),
    );
    const order = events.map(({ event }) => event).filter((name, at, all) => name !== all[at - 1]);
    expect(order).toEqual(["accepted", "tool", "delta", "done"]);
    expect(events[0]?.data).toEqual({ id: expect.stringMatching(/^msg_\w+$/) });
    const tools = events.filter(({ event }) => event === "tool").map(({ data }) => data);
    const call = { callId: expect.any(String), tool: "session_status" };
    expect(tools).toEqual([
      { ...call, status: "running" },
      { ...call, status: "success", ms: expect.any(Number) },
    ]);
    expect(new Set(tools.map(({ callId }) => callId)).size).toBe(1);

    const done = events.at(-1)?.data;
    expect(done).toEqual({
      content: expect.stringContaining("Model: gwdemo/demo"),
      tool_calls: [{ tool: "session_status", input: {}, status: "success", ms: expect.any(Number) }],
      sessionKey: keyOf("streamed"),
      turnId: expect.stringMatching(/^turn_\w+$/),
      usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number), costUsd: 0 },
    });
    const deltas = events.filter(({ event }) => event === "delta").map(({ data }) => data.text);
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas.join("")).toBe(String(done?.content));
  });

  test("is given to whoever asks with the Accept header as well", async () => {
    const response = await post(gateway, { text: "echo: hi", session: "accept" }, { accept: "text/event-stream" });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = await Array.fromAsync(streamed(response));
    expect(events.at(-1)).toMatchObject({ event: "done", data: { content: "hi" } });
  });
});

describe("a session", () => {
  test("has a transcript of what was said and which tools were used", async () => {
    const { body } = await gateway.chat("status", { session: "told" });
    const turnId = body.turnId;
    const items = await transcript(gateway, "told");
    const id = expect.any(String);
    const at = expect.any(Number);
    expect(items).toEqual([
      { id, inboxId: id, role: "user", text: "status", at, turnId },
      {
        id,
        role: "tool",
        text: "",
        at,
        turnId,
        tool: "session_status",
        input: {},
        output: expect.stringContaining("Model: gwdemo/demo"),
        status: "success",
        ms: expect.any(Number),
      },
      { id, role: "assistant", kind: "reply", text: body.content, at, turnId },
    ] as never);
  });

  test("is the same by its short name and by its full key", async () => {
    await gateway.chat("echo: one", { session: "short-name" });
    await gateway.chat("echo: two", { session: keyOf("short-name") });
    expect((await transcript(gateway, "short-name")).map(({ text }) => text)).toEqual([
      "echo: one",
      "one",
      "echo: two",
      "two",
    ]);
  });

  test("is listed with what it is about, newest first, page by page", async () => {
    await gateway.chat("echo: first", { session: "listed-a" });
    await gateway.chat("echo: second", { session: "listed-b" });
    const page = async (query: string) =>
      (await (await gateway.fetch(`/api/sessions?limit=1${query}`)).json()) as {
        items: SessionSummary[];
        next: string;
      };
    const first = await page("");
    expect(first.items).toEqual([
      {
        key: keyOf("listed-b") as never,
        channel: "api",
        person: "operator" as never,
        title: "echo: second",
        createdAt: expect.any(Number),
        lastActivityAt: expect.any(Number),
        messages: 2,
        usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number), costUsd: 0 },
      },
    ]);
    const second = await page(`&cursor=${encodeURIComponent(first.next)}`);
    expect(second.items.map(({ key }) => String(key))).toEqual([keyOf("listed-a")]);
  });

  test("that does not exist is not found, in a sentence", async () => {
    const response = await gateway.fetch(`/api/sessions/${encodeURIComponent(keyOf("nobody"))}/transcript`);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: { code: "not_found", message: "There is no such session.", requestId: expect.any(String) },
    });
  });
});

function walk(root: string, paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    if (!lstatSync(join(root, path)).isDirectory()) return [path];
    return [
      path,
      ...walk(
        root,
        readdirSync(join(root, path)).map((name) => join(path, name)),
      ),
    ];
  });
}
